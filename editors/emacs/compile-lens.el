;;; compile-lens.el --- See what torch.compile did with your code -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1"))

;;; Commentary:

;; Starts the language server of Compile Lens with eglot or lsp-mode.  It asks once per workspace before it runs a file.

;;; Code:

(defgroup compile-lens nil
  "See what torch.compile did with your code."
  :group 'tools)

(defcustom compile-lens-command '("compile-lens" "serve")
  "The command that starts the language server."
  :type '(repeat string))

(defcustom compile-lens-run "ask"
  "When files run in the background."
  :type '(choice (const :tag "Ask once per workspace" "ask") (const "always") (const "never")))

(defun compile-lens--settings ()
  "The settings, as `initializationOptions' and as `workspace/configuration'."
  `(:compileLens (:run (:enabled ,compile-lens-run))))

;; eglot has one server per buffer: this one takes the place of another for Python.
(defun compile-lens--eglot-contact (&rest _)
  "The command for eglot."
  (append compile-lens-command (list :initializationOptions (compile-lens--settings))))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((python-mode python-ts-mode) . compile-lens--eglot-contact)))

;; lsp-mode runs it beside other servers for Python.
(declare-function lsp-register-client "ext:lsp-mode")
(declare-function make-lsp-client "ext:lsp-mode")
(declare-function lsp-stdio-connection "ext:lsp-mode")
(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client
    :new-connection (lsp-stdio-connection (lambda () compile-lens-command))
    :activation-fn (lambda (_file mode) (memq mode '(python-mode python-ts-mode)))
    :add-on? t
    :server-id 'compile-lens
    :initialization-options #'compile-lens--settings)))

(provide 'compile-lens)
;;; compile-lens.el ends here
