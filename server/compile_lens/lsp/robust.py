"""The protocol as pygls speaks it, with the places closed where a client or a bug of ours could make it fall silent.

Measured with pygls 2.1 and lsprotocol 2025.0:

- an enum value that lsprotocol does not list in ``initialize`` stops the server from ever starting;
- a request that cannot be read is never answered;
- errors carry a traceback to the editor, and errors in notifications pop up there;
- pygls keeps a text of its own for each document, whose lines end at form feeds, and fails at edits after one;
- it forgets neither the futures of notifications nor those of commands, and cancelling a command does not reach it;
- ``exit`` leaves through ``sys.exit`` inside a handler, with whatever still runs.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Generator
from concurrent.futures import Future, InvalidStateError
from enum import Enum
from typing import Any

import cattrs
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

log = logging.getLogger(__name__)

# what pygls does on its own for these messages is not wanted: lsp/sync.py, lsp/commands.py, lsp/progress.py and
# lsp/server.py handle them
HANDLED_HERE = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_EXECUTE_COMMAND,
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
    types.EXIT,
)


def tolerant_converter() -> cattrs.Converter:
    """A converter that keeps an enum value which it does not know as it came, instead of refusing the message."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]

    def structure(value: Any, kind: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            return value

    def structure_text(value: Any, _: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(value)
        return value

    converter.register_structure_hook(str, structure_text)  # cattrs would make a text of anything
    for entry in vars(types).values():  # one by one: a hook for all of Enum would come after cattrs' own
        if isinstance(entry, type) and issubclass(entry, Enum):
            converter.register_structure_hook(entry, structure)
    return converter


def _is_message(data: object) -> bool:
    """Whether ``data`` has the members of a JSON-RPC message, of the right types (lsprotocol does not look)."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return False
    identifier, method = data.get("id"), data.get("method")
    known = identifier is None or (isinstance(identifier, (str, int)) and not isinstance(identifier, bool))
    return known and (isinstance(method, str) or ("method" not in data and "id" in data))


class RobustProtocol(LanguageServerProtocol):
    """pygls' protocol that answers every request, tells no editor about our bugs, and leaves the texts to us."""

    def __init__(self, server: Any, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self._initialized = False
        self._asked: set[str | int] = set()
        for method in HANDLED_HERE:
            del self.fm.builtin_features[method]

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor asked for ``shutdown``."""
        return bool(self._shutdown)

    def receive(self, body: bytes) -> None:
        """Take the body of one message. Never raises: what cannot be read is answered if it is a request, and logged."""
        try:
            self._receive(body)
        except Exception:
            log.exception("A message could not be handled")

    def _receive(self, body: bytes) -> None:
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, JsonRpcParseError("The message is not JSON."))
            return
        if not _is_message(data):
            identifier = data.get("id") if isinstance(data, dict) else None
            known = identifier if isinstance(identifier, (str, int)) else None
            self._refuse(known, JsonRpcInvalidRequest("This is no message of JSON-RPC 2.0."))
            return
        try:
            message = self.structure_message(data)
        except JsonRpcException:
            self._malformed(data)
            return
        self.handle_message(message)

    def _malformed(self, data: dict[str, Any]) -> None:
        method, identifier = data.get("method"), data.get("id")
        if identifier is None:
            log.warning("A notification that cannot be read was dropped: %s", method)
        elif method is not None:
            self._refuse(identifier, JsonRpcInvalidParams(f"The parameters of {method} cannot be read."))
        else:
            error = types.ResponseError(JsonRpcInvalidRequest.CODE, "The answer cannot be read.")
            self._handle_response(identifier, None, error)

    def _refuse(self, identifier: Any, error: JsonRpcException) -> None:
        log.warning("A message was refused: %s", error)
        self._send_response(identifier, None, error.to_response_error())

    def handle_message(self, message: Any) -> None:
        """Hand a message to its handler, unless the connection is not in the state for it."""
        method, identifier = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and method != types.EXIT:
            if self._initialized == (method == types.INITIALIZE) or self._shutdown:
                if identifier is not None:
                    self._refuse(identifier, self._wrong_state())
                return
            self._initialized = True
        super().handle_message(message)

    def _wrong_state(self) -> JsonRpcException:
        if self._shutdown:
            return JsonRpcInvalidRequest("The server is shutting down.")
        if self._initialized:
            return JsonRpcInvalidRequest("The server is initialized already.")
        return JsonRpcServerNotInitialized("The server is not initialized yet.")

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """End our work, then cancel what is still being answered (a copy: each answer removes its own entry)."""
        yield self.fm.features[types.SHUTDOWN], args, None
        current = self.msg_id
        for identifier, future in list(self._request_futures.items()):
            if identifier != current and not future.done():
                future.cancel()
        self._shutdown = True

    def _execute_handler(self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    def send_request(self, method: str, params: Any = None, callback: Any = None, msg_id: Any = None) -> Future[Any]:
        """Ask the editor, and remember that it was asked: pygls keeps the editor's own requests under the same ids."""
        msg_id = str(uuid.uuid4()) if msg_id is None else msg_id
        self._asked.add(msg_id)
        future: Future[Any] = super().send_request(method, params, callback, msg_id)
        return future

    def _handle_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if msg_id not in self._asked:
            log.warning("An answer came to a request that was never made.")
            return
        self._asked.discard(msg_id)
        try:
            super()._handle_response(msg_id, result, error)
        except InvalidStateError:  # whoever asked did not wait for the answer
            log.debug("An answer came to a request that was cancelled.")

    def _send_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if error is not None:
            error = types.ResponseError(error.code, error.message)  # pygls puts a traceback into ``data``
        super()._send_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        if isinstance(msg_id, (str, int)) and msg_id not in self._asked and msg_id in self._request_futures:
            self._request_futures[msg_id].cancel()
