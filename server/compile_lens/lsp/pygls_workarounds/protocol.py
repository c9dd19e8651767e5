"""The protocol object: pygls' own, made to survive whatever an editor sends. The list of workarounds is in ``__init__.py``."""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Callable, Generator
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

# pygls' own handlers of these messages are removed: lsp/document_sync.py, lsp/commands.py, lsp/progress.py and
# lsp/server.py handle them
HANDLED_BY_FEATURES = (
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
    """A converter that keeps unknown enum values as they are instead of refusing the message."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]

    def structure(value: Any, kind: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            return value

    def structure_string(value: Any, _: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(value)
        return value

    converter.register_structure_hook(str, structure_string)  # cattrs would turn anything into a string
    for entry in vars(types).values():  # one by one: cattrs' own hook takes precedence over one for Enum itself
        if isinstance(entry, type) and issubclass(entry, Enum):
            converter.register_structure_hook(entry, structure)
    return converter


def _is_message(data: object) -> bool:
    """Whether ``data`` has the members of a JSON-RPC message, with the right types (lsprotocol does not check)."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        return False
    identifier, method = data.get("id"), data.get("method")
    known = identifier is None or (isinstance(identifier, (str, int)) and not isinstance(identifier, bool))
    return known and (isinstance(method, str) or ("method" not in data and "id" in data))


def _member(name: str, head: bytes) -> str | int | None:
    match = re.search(rb'"%s"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)' % name.encode(), head)
    try:
        return None if match is None else json.loads(match[1])
    except ValueError:
        return None


class HardenedProtocol(LanguageServerProtocol):
    """pygls' protocol, but every request is answered, no traceback is sent, and documents are left to ``documents/``."""

    _server: Any

    def __init__(self, server: Any, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self._initialized = False
        self._sent_requests: set[str | int] = set()
        self.on_too_large: Callable[[str], None] = lambda _: None
        for method in HANDLED_BY_FEATURES:
            del self.fm.builtin_features[method]

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor asked for ``shutdown``."""
        return bool(self._shutdown)

    def receive(self, body: bytes) -> None:
        """Handle the body of one message. Never raises: a malformed request is answered with an error, anything else is logged."""
        try:
            self._receive(body)
        except Exception:  # a handler may raise anything; the connection must outlive it
            log.exception("Could not handle a message")

    def refuse_large(self, head: bytes) -> None:
        """A message is too large to be read; ``head`` is how it begins. A quote within a text is escaped, so these are its own members."""
        found = {name: _member(name, head) for name in ("id", "uri")}
        log.warning("Refused a message that is too large.")
        if found["id"] is not None:
            self._refuse(found["id"], JsonRpcInvalidRequest("The message is too large."))
        elif isinstance(found["uri"], str):
            self.on_too_large(found["uri"])

    def _receive(self, body: bytes) -> None:
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, JsonRpcParseError("The message is not JSON."))
            return
        if not _is_message(data):
            identifier = data.get("id") if isinstance(data, dict) else None
            known = identifier if isinstance(identifier, (str, int)) else None
            self._refuse(known, JsonRpcInvalidRequest("Not a JSON-RPC 2.0 message."))
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
            log.warning("Dropped a malformed notification: %s", method)
        elif method is not None:
            self._refuse(identifier, JsonRpcInvalidParams(f"Invalid parameters for {method}."))
        else:
            error = types.ResponseError(JsonRpcInvalidRequest.CODE, "Malformed response.")
            self._handle_response(identifier, None, error)

    def _refuse(self, identifier: Any, error: JsonRpcException) -> None:
        log.warning("Refused a message: %s", error)
        self._send_response(identifier, None, error.to_response_error())

    def handle_message(self, message: Any) -> None:
        """Pass a message to its handler if the connection is in the right state for it."""
        method, identifier = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and method != types.EXIT:
            if self._initialized == (method == types.INITIALIZE) or self._shutdown:
                if identifier is not None:
                    self._refuse(identifier, self._wrong_state())
                return
            self._initialized = True
            if method != types.INITIALIZE:
                self._server.load()
        super().handle_message(message)

    def _wrong_state(self) -> JsonRpcException:
        if self._shutdown:
            return JsonRpcInvalidRequest("The server is shutting down.")
        if self._initialized:
            return JsonRpcInvalidRequest("The server is already initialized.")
        return JsonRpcServerNotInitialized("The server is not initialized yet.")

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """End all work, then cancel the open requests. Iterates over a copy, since each answer removes its own entry."""
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
        """Send a request and remember its id, since pygls keeps the editor's requests in the same table."""
        msg_id = str(uuid.uuid4()) if msg_id is None else msg_id
        self._sent_requests.add(msg_id)
        future: Future[Any] = super().send_request(method, params, callback, msg_id)
        return future

    def _handle_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if msg_id not in self._sent_requests:
            log.warning("Ignored a response to a request that was never sent.")
            return
        self._sent_requests.discard(msg_id)
        try:
            super()._handle_response(msg_id, result, error)
        except InvalidStateError:  # the caller was canceled while it waited
            log.debug("Ignored a response to a canceled request.")

    def _send_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        if error is not None:
            error = types.ResponseError(error.code, error.message)  # pygls puts a traceback into ``data``
        super()._send_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        if isinstance(msg_id, (str, int)) and msg_id not in self._sent_requests and msg_id in self._request_futures:
            self._request_futures[msg_id].cancel()
