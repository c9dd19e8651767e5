"""A sequence-to-sequence model of the older kind."""

import random

import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, input_size, embedding_size, hidden_size, num_layers, p):
        super().__init__()
        self.dropout = nn.Dropout(p)
        self.embedding = nn.Embedding(input_size, embedding_size)
        self.cell = nn.GRUCell(embedding_size, hidden_size)

    def forward(self, x):
        # x: (seq_len, N)
        embedded = self.dropout(self.embedding(x))
        h = None
        for step in embedded:
            h = self.cell(step, h)
        return h


class Classifier(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, output_dim):
        super().__init__()
        self.encoder = Encoder(vocab_size, embed_dim, hidden_dim, 1, 0.1)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, text, teacher_forcing_ratio=0.5):
        h = self.encoder(text)
        if random.random() < teacher_forcing_ratio:
            h = h.tanh()
        return self.fc(h)
