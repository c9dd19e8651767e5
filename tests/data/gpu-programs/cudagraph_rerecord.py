import torch

torch._inductor.config.triton.cudagraph_unexpected_rerecord_limit = 2
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).cuda()
for parameter in model.parameters():
    parameter.requires_grad_(False)
compiled = torch.compile(model, mode="reduce-overhead")
x = torch.ones(64, 64, device="cuda")
kept = []
for step in range(8):
    if step > 2:
        kept.append(model[0].weight.data)
        model[0].weight.data = model[0].weight.data.clone()
    torch.compiler.cudagraph_mark_step_begin()
    compiled(x)
