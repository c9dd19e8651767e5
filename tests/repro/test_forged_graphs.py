"""What a trace may forge of a graph: a script has no code that torch does not print of one."""

from __future__ import annotations

import ast

import pytest

from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.graph import _read_arguments
from compile_lens.repro.graph_code import check_graph

HEAD = 'class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: "f32[2, 3][3, 1]cpu"):\n'


@pytest.mark.parametrize(
    "line",
    [
        "y: \"f32[2]\" = torch.ops.aten.add.Tensor(L_x_, 1.5);  L_x_ = None",
        "y = torch._C._nn.linear(L_x_, self.L_self_read_path_weight, None)",
        "y = torch.nn.functional.layer_norm(L_x_, (3,), None, None, 1e-05)",
        "split = torch.ops.aten.split.Tensor(L_x_, 1, -1); y = split[0][slice(None, None, None)]",
        "y = L_x_.to(device(type='cuda', index=0), torch.float16).transpose(0, -1)",
        "_grad = torch._C._set_grad_enabled(False);  _grad = None",
        "y = torch.ops.higher_order.cond(L_x_, self.true_graph_0, self.false_graph_0, [L_x_, inf])",
        "y = operator.add(L_x_, 2) if L_x_ is None else torch.einsum('b i, b j -> i j', L_x_, L_x_)",
        "y = torch.ops.higher_order.auto_functionalized_v2(torch.ops.mylib.foo.default, x=L_x_)",
        "y = torch.ops.higher_order.out_dtype(torch.ops.aten.mm.default, torch.int32, L_x_, L_x_)",
        "y = torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16, True, None); torch.amp.autocast_mode._exit_autocast(y)",
        "y = torch._functorch.predispatch._vmap_increment_nesting(2, 'error'); z = torch._C._functorch._grad_increment_nesting()",
        "y = torch.autograd.function.FunctionCtx(); z = torch._check(L_x_.shape[0] > 1); w = torch.sym_max(1, L_x_.shape[0])",
        "y = L_x_.select(0, 1).trace(); c = L_x_.chunk(2); n = self.test.code.weight",
        "z = L_x_.device.type; w = torch._C._autograd._saved_tensors_hooks_enable()",
        "y += L_x_; y[Ellipsis, slice(None, 2, None)] -= 1; z = torch.functional.einsum('... i d, ... j d -> ... i j', y, y)",
        "u = torch._C._log_api_usage_once('python.nn_module'); e: \"f32[0][1]cpu\" = torch.Tensor(); z = y[None, Ellipsis]",
        "y = torch.nn.attention._backend_from_string('FLASH_ATTENTION'); z = torch.nn.attention._sdpa_kernel([y], False)",
        "y = L_x_.type(torch.float16).max(1).values; return (L_x_, y) if False else L_x_",
    ],
)  # fmt: skip
def test_what_torch_prints_is_written(line: str) -> None:
    check_graph(f"{HEAD}        y = L_x_\n        {line}\n        return (L_x_,)\n", "0/0")


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}        return os.system('x')",
        f"{HEAD}        return os.rmdir(L_x_)",
        f"{HEAD}        y = torch.save(L_x_, 'x')",
        f"{HEAD}        y = torch.ops.aten.from_file('x')",
        f"{HEAD}        y = torch.ops.load_library('x')",
        f"{HEAD}        y = torch.utils.cpp_extension.load('x')",
        f"{HEAD}        y = torch.hub.load('x', 'y')",
        f"{HEAD}        y = torch.serialization; y._opener(L_x_)",
        f"{HEAD}        m = torch._functorch.config.sys.modules; y = m['x'].call(['x'])",
        f"{HEAD}        s = torch._functorch.config.os.sep; torch._functorch.config.os.rename('x', s + 'x')",
        f"{HEAD}        m = torch.sys; m.modules['x'].call(['x'])",
        f"{HEAD}        m = torch.random; m.torch.sys",
        f"{HEAD}        m = torch.autograd; y = m.grad",
        f"{HEAD}        m = torch.add; y = m.x",
        f"{HEAD}        m = torch.ops.aten.add.Tensor",
        f"{HEAD}        y = torch._higher_order_ops.utils.os.remove('x')",
        f"{HEAD}        y = torch._functorch.apis.sys.exit(1)",
        f"{HEAD}        m = torch.get_device_module('cpu')",
        f"{HEAD}        m = torch._functorch.vmap.partial(L_x_)",
        f"{HEAD}        y = L_x_.sys.modules",
        f"{HEAD}        m = self; y = m.parameters()",
        f"{HEAD}        y = self.parameters().gi_frame.f_builtins['eval']",
        f"{HEAD}        y = self.a.modules().gi_frame",
        f"{HEAD}        y = super().named_modules().gi_code",
        f"{HEAD}        y = self.forward.co_code",
        f"{HEAD}        y = self._modules",
        f"{HEAD}        self.foo = L_x_; y = self.foo('x')",
        f"{HEAD}        y = L_x_.gi_frame",
        f"{HEAD}        y = L_x_.grad_fn.metadata",
        f"{HEAD}        y = L_x_.apply_(torch.add)",
        f"{HEAD}        y = torch.script_if_tracing(L_x_)",
        f"{HEAD}        y = torch.amp.custom_fwd(L_x_)",
        f"{HEAD}        y = torch.func.grad(L_x_)",
        f"{HEAD}        y = self.register_full_backward_hook(L_x_)",
        f"{HEAD}        y = getattr(L_x_, 'sys')",
        f"{HEAD}        y = operator.itemgetter(0)(L_x_)",
        f"{HEAD}        y = operator.methodcaller",
        f"{HEAD}        y = math.sys",
        f"{HEAD}        y = exec; y('x')",
        f"{HEAD}        y = getattr(L_x_, '__class__')",
        f"{HEAD}        y = torch.nn.attention._backend_from_string('__getattribute__')",
        f"{HEAD}        y = torch.nn.attention._backend_from_string(L_x_)",
        f"{HEAD}        y = torch.nn.attention._backend_names",
        f"{HEAD}        m = L_x_.to; y = torch.ops.higher_order.wrap(m, 'x')",
        f"{HEAD}        y = torch.ops.higher_order.wrap(getattr(L_x_, 'to'), 'x')",
        f"{HEAD}        y = L_x_['__builtins__']",
        f"{HEAD}        y = torch.ops.higher_order.wrap(L_x_, 'f(1)')",
        f"{HEAD}        getattr = L_x_; y = getattr(L_x_, 'shape')",
        f"{HEAD}        max = L_x_; y = max(L_x_, 1)",
        f"{HEAD.replace('self', 's')}        y = s.to",
        f"{HEAD.replace('self, ', '')}        return L_x_",
        f"{HEAD}        y = self.__init__.__globals__['os']",
        f"{HEAD}        y = L_x_.numpy().tofile('x')",
        f"{HEAD}        y = [z for z in L_x_]",
        f"{HEAD}        y = (lambda: 1)()",
        f"{HEAD}        y = f'{{L_x_}}'",
        f"{HEAD}        y = torch.tensor('/home/me')",
        f"{HEAD}        torch = L_x_",
        f"{HEAD}        import os",
        f"{HEAD}        for y in L_x_: pass",
        f"{HEAD}        return L_x_\nimport os",
        f"import os\n{HEAD}        return L_x_",
        f"@exec\n{HEAD}        return L_x_",
        f"{HEAD}        return L_x_\n    x = exec('x')",
        f"{HEAD}        return L_x_\n    def other(self): return 1",
        "class GraphModule(torch.nn.Module):\n    def forward(self, x=exec('x')):\n        return x",
        "class GraphModule(torch.nn.Module):\n    def forward(self, x: exec('x')):\n        return x",
        "class GraphModule(torch.nn.Module, metaclass=exec):\n    def forward(self, x):\n        return x",
        "class GraphModule(torch.package.PackageImporter):\n    def forward(self, x):\n        return x",
        "x = 1",
        "",
        "class",
    ],
)
def test_what_no_graph_has_is_not_written(text: str) -> None:
    with pytest.raises(CannotWrite):
        check_graph(text, "0/0")


@pytest.mark.parametrize(
    "line",
    [
        "reader.const({'is': 'code', 'code': 'exec()'})",
        "reader.symint([1])",
        "reader.tensor(buf0, (4,), (1,), dtype=torch.save(1, 'x'))",
        "reader.tensor(buf0, (4,), ('exec()',))",
    ],
)
def test_inputs_of_a_graph_are_numbers_and_tensors(line: str) -> None:
    loader = ast.parse(f"def load_args(reader):\n    {line}\n").body[0]
    assert isinstance(loader, ast.FunctionDef)
    with pytest.raises(ValueError):
        list(_read_arguments(loader))
