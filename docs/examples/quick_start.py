"""Embed the karate club from its edges and a few judgements, and ask about other pairs."""

import networkx as nx

from contrastive_fuse import ContrastiveFUSE

club = nx.karate_club_graph()
alike = [(0, 1), (0, 7), (3, 13), (33, 32), (33, 23), (30, 32)]
unlike = [(0, 33), (1, 32), (3, 30), (7, 23)]

model = ContrastiveFUSE(n_components=16, random_state=0)
model.fit(club, alike + unlike, [1] * len(alike) + [-1] * len(unlike))

for pair in [(0, 3), (0, 32), (2, 33)]:
    score, probability = model.pair_score([pair])[0], model.predict_proba([pair])[0, 1]
    print(f"{pair}: cosine {score:+.2f}, alike with probability {probability:.2f}")
