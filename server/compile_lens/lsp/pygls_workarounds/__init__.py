"""What pygls 2.1.1 and lsprotocol 2025.0.0 lack. Each workaround names what it makes up for, and can go once upstream has it.

| behavior of pygls or lsprotocol | what is done here | upstream |
|---|---|---|
| an enum value in ``initialize`` that lsprotocol does not list stops the server from starting | ``protocol.tolerant_converter`` | openlawlibrary/pygls#438, open |
| a request that cannot be deserialized gets no answer | ``HardenedProtocol.receive`` | not reported yet |
| requests before ``initialize`` are handled; those after ``shutdown`` get no answer | ``handle_message`` | openlawlibrary/pygls#605, open, has the second |
| ``shutdown`` iterates over a dictionary that answers shrink | ``lsp_shutdown`` | openlawlibrary/pygls#606, open |
| a late answer to a canceled request raises ``InvalidStateError`` | ``_handle_response`` | openlawlibrary/pygls#621, fixed after 2.1.1 |
| requests of the editor and of the server share one table, so equal ids collide | ``send_request``, ``_handle_response`` | not reported yet |
| futures of notifications and of nested handlers are never dropped | ``_execute_handler`` | not reported yet |
| canceling ``workspace/executeCommand`` does not reach the command | ``HANDLED_BY_FEATURES`` | not reported yet |
| tokens of progress are never dropped | ``lsp/progress.py``, which keeps its own | openlawlibrary/pygls#607, open |
| error responses carry a traceback; errors pop up in the editor | ``_send_response``, ``CompileLensServer.report_server_error`` | by design since openlawlibrary/pygls#282 |
| documents are split into lines at form feeds, and edits after one fail | ``HANDLED_BY_FEATURES``; ``documents/`` keeps the texts | not reported yet |
| ``exit`` calls ``sys.exit`` inside a handler, whatever still runs | ``HANDLED_BY_FEATURES``; ``lsp/server.py`` ends | not reported yet |
| a ``print`` or a child process that writes to standard output breaks the connection | ``transport.PrivateStreams`` | openlawlibrary/pygls#240, closed: "never print" |
| a header without ``\\r\\n`` or in lower case is ignored, and the stream is out of step from then on | ``transport.read_messages`` | not reported yet |
| a length that is negative, no number or beyond all measure loses the next message, too | ``transport.read_messages``, ``unframed`` | not reported yet |
| the end of the editor's process goes unnoticed while its pipe stays open | ``lsp/lifetime.py`` | added by openlawlibrary/pygls#149, gone in 2.x |
| features are marked with attributes, which bound methods refuse | ``CompileLensServer.on`` | not reported yet |
"""  # noqa: E501 - a table
