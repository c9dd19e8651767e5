"""Message passing without a library."""

import torch
import torch.nn as nn


class GCNLayer(nn.Module):
    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features) * 0.1)
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None

    def forward(self, x: torch.Tensor, adj: torch.Tensor) -> torch.Tensor:
        """
        Args:
            x: node features of shape (N, F)
            adj: adjacency matrix of shape (N, N)
        """
        out = adj @ (x @ self.weight)
        return out if self.bias is None else out + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout=0.5):
        super().__init__()
        self.gc1, self.gc2 = GCNLayer(nfeat, nhid), GCNLayer(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = torch.relu(self.gc1(x, adj))
        x = nn.functional.dropout(x, self.dropout, training=self.training)
        return torch.log_softmax(self.gc2(x, adj), dim=1)
