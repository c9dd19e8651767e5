import torch


@torch.compile
def filtered(x, low):
    spectrum = torch.fft.rfft(x)
    mask = torch.arange(spectrum.shape[-1], device=x.device) < low
    return torch.fft.irfft(spectrum * mask, n=x.shape[-1])


@torch.compile
def phase(x):
    z = torch.complex(x, x.flip(0))
    return torch.view_as_real(z * z.conj()).sum().tolist()


for low in (3, 4, 5):
    filtered(torch.randn(4, 32, device="cuda"), low)
phase(torch.randn(6, device="cuda"))
