"""Files with keys, tokens, passwords and histories, as data: what a sandboxed run must not read.

To add one, add a row to its group. ``source`` is where its owner says that the file is there. A folder that may hold a workspace or an
interpreter (``~/.cursor/worktrees``) is no secret: name the files in it.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ..runtime.regular_file import FileTooLargeError, read_regular_text

# ruff: noqa: E501 - a table
USER = os.getuid() if hasattr(os, "getuid") else ""
# since git 2.32
GIT_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
# the first part of a place that a variable moves, and where it is without the variable (XDG Base Directory Specification 0.8)
BASES = {
    "$XDG_CONFIG_HOME": "~/.config",
    "$XDG_DATA_HOME": "~/.local/share",
    "$XDG_CACHE_HOME": "~/.cache",
    "$XDG_STATE_HOME": "~/.local/state",
    "$HF_HOME": "$XDG_CACHE_HOME/huggingface",
    "$CARGO_HOME": "~/.cargo",
    "$CODEX_HOME": "~/.codex",
    "$CLAUDE_CONFIG_DIR": "~/.claude",
    "$IPYTHONDIR": "~/.ipython",
    "$ZDOTDIR": "~",
    # the environment of this interpreter, where it is not activated
    "$VIRTUAL_ENV": sys.prefix,
    "$CONDA_PREFIX": sys.prefix,
    # pam_systemd(8)
    "$XDG_RUNTIME_DIR": f"/run/user/{USER}",
}
# what is no secret behind the name of one: nothing, or a switch
SWITCH = r"""["']?(?:true|false|yes|no|on|off|none|null)?["']?[ \t]*(?:[#;,}]|\r?$)"""
# What is a secret in a file of settings that is otherwise none: a password or a token in an address, a header, a key, the name of a user. The options of
# curl and wget stand there with dashes or without, and with an equals sign, a colon or a blank before their value (man curl(1), wget(1)).
SECRET_SETTING = re.compile(
    r"\b(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[abeoprs]-|pypi-|npm_|AKIA|AIza|nvapi-|gsk_|r8_)[\w-]{16}"
    r"|://hooks\.[\w.-]{1,200}/[^\s\"']{16}|/(?:web)?hooks/[^\s\"']{16}|[;\"']\s{0,4}pwd\s{0,4}=\s{0,4}[^\s;\"']"
    r"|://[^/\s@:]*:[^/\s@]+@|://[^/\s@:]{16,}@|https?://(?!git@)[^/\s@:]+@|/t/[\w-]{8,}/|[?&]sig(?:nature)?=|extraheader|\bsshpass\b"
    r"|^[ \t]*(?:(?-i:-H)|-*(?:proxy-)?header(?![\w-])|(?-i:-b)|-*cookie(?![\w-]))[ \t=:]*\S"
    r"|^[ \t]*(?:(?-i:-[uU])|-*(?:u|(?:proxy-)?user)(?![\w-]))[ \t=:]*(?:\S+:\S|\"[^\"\n]*:)"
    r"|^[ \t]*(?:(?-i:-E)|-*(?:proxy-)?cert(?![\w-]))[ \t=:]*[\"']?(?:[a-z]:[\\/])?[^\s:]{2,}:\S"
    r"|^[ \t]*-*(?:(?:proxy-)?(?:tls)?pass(?:word)?|oauth2-bearer)[ \t]+[^\s=:]"
    rf"|^[ \t]*\[[^\]\n]*token[^\]\n]*\][ \t]*\r?\n[ \t]*[\w.\"'-]+\s*=\s*(?!{SWITCH})\S"
    r"|(?:(?:token|passw|passphrase|secret|bearer|credentials|api[_-]?key|access[_-]?key|account[_-]?key|connection[_-]?string)[\w.-]*"
    rf"|(?<!by)(?<!com)pass|\bauth(?:orization)?)[\"']?\s*[=:]\s*(?!{SWITCH})\S",
    re.IGNORECASE | re.MULTILINE,
)


# what editors of the family of VS Code keep below `User`: tokens, what was said to assistants, and earlier texts of files
OF_EDITORS = ("globalStorage", "workspaceStorage", "History")
# the folders around `User`
DATA_OF_EDITORS = (
    "$XDG_CONFIG_HOME/Code", "$XDG_CONFIG_HOME/Code - Insiders", "$XDG_CONFIG_HOME/VSCodium", "$XDG_CONFIG_HOME/Windsurf", "$XDG_CONFIG_HOME/Cursor",
    "$XDG_CONFIG_HOME/Positron", "$XDG_CONFIG_HOME/Trae", "~/Library/Application Support/Code", "~/Library/Application Support/Cursor", "~/AppData/Roaming/Code",
    "~/.vscode-server/data", "~/.cursor-server/data", "~/.windsurf-server/data",
)  # fmt: skip


@dataclass(frozen=True)
class SecretPlace:
    """``paths`` begin with ``~``, a variable of ``BASES`` or the root, and may have patterns of names (``*``) in them; ``variables`` name the place itself, several with ``os.pathsep``,
    or behind a colon (``FILE:/path``). ``are_settings``: programs need them, and they are secret where one has a secret in them."""

    of: str
    source: str
    paths: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    are_settings: bool = False


SECRET_PLACES = (
    # keys of the system
    SecretPlace("Android, minisign and step", "their documentation", ("~/.android/adbkey", "~/.minisign", "~/.step/secrets")),
    SecretPlace("GnuPG", "https://www.gnupg.org/documentation/manuals/gnupg/", ("~/.gnupg",), ("GNUPGHOME",)),
    SecretPlace("Kerberos", "man kerberos(7)", (f"/tmp/krb5cc_{USER}", "/etc/krb5.keytab"), ("KRB5CCNAME", "KRB5_KTNAME", "KRB5_CLIENT_KTNAME")),
    SecretPlace("Globus and X.509 proxies", "https://docs.globus.org", ("~/.globus", f"/tmp/x509up_u{USER}"), ("X509_USER_PROXY", "X509_USER_KEY")),
    SecretPlace("NSS", "https://wiki.mozilla.org/NSS_Shared_DB", ("~/.pki",)),
    SecretPlace("OpenSSH", "man ssh(1)", ("~/.ssh",)),
    SecretPlace("Samba and mounted shares", "man mount.cifs(8)", ("~/.smbcredentials", "~/.davfs2/secrets")),
    SecretPlace("X11", "man xauth(1), iceauth(1), vncpasswd(1)", ("~/.Xauthority", "~/.ICEauthority", "~/.vnc/passwd"), ("XAUTHORITY", "ICEAUTHORITY")),
    SecretPlace("age and SOPS", "https://getsops.io/docs/", ("$XDG_CONFIG_HOME/sops", "$XDG_CONFIG_HOME/age"), ("SOPS_AGE_KEY_FILE",)),
    SecretPlace("containers and services", "https://docs.docker.com/compose/how-tos/use-secrets/, man systemd.exec(5)", ("/run/secrets", "/run/secrets.d", "/run/agenix", "/run/agenix.d", "/var/run/secrets"), ("CREDENTIALS_DIRECTORY",)),
    # others put files of theirs there, or mount them (gvfs, doc)
    SecretPlace("services of the user's session", "man gnome-keyring(1), gpg-agent(1), xauth(1), https://github.com/Mic92/sops-nix, https://github.com/ryantm/agenix", (
        "$XDG_RUNTIME_DIR/keyring", "$XDG_RUNTIME_DIR/gcr", "$XDG_RUNTIME_DIR/gnupg", "$XDG_RUNTIME_DIR/gdm", "$XDG_RUNTIME_DIR/*auth*", "$XDG_RUNTIME_DIR/.*auth*",
        "$XDG_RUNTIME_DIR/secrets", "$XDG_RUNTIME_DIR/secrets.d", "$XDG_RUNTIME_DIR/agenix", "$XDG_RUNTIME_DIR/agenix.d", "$XDG_RUNTIME_DIR/krb5cc",
    )),
    # passwords
    SecretPlace("1Password", "https://developer.1password.com/docs/cli/", ("$XDG_CONFIG_HOME/op", "~/.op")),
    SecretPlace("Bitwarden", "https://bitwarden.com/help/cli/", ("$XDG_CONFIG_HOME/Bitwarden CLI",), ("BITWARDENCLI_APPDATA_DIR",)),
    SecretPlace("Borg", "https://borgbackup.readthedocs.io", ("$XDG_CONFIG_HOME/borg",), ("BORG_KEYS_DIR",)),
    SecretPlace("FileZilla and Remmina", "their documentation", ("$XDG_CONFIG_HOME/filezilla", "$XDG_DATA_HOME/remmina")),
    SecretPlace("GNOME Keyring and KWallet", "man gnome-keyring(1)", ("$XDG_DATA_HOME/keyrings", "$XDG_DATA_HOME/kwalletd")),
    SecretPlace("JetBrains", "https://www.jetbrains.com/help/idea/reference-ide-settings-password-safe.html", tuple(
        f"{data}/JetBrains/*/{file}" for data in ("$XDG_CONFIG_HOME", "~/Library/Application Support") for file in ("c.kdbx", "c.pwd")
    )),
    SecretPlace("Electrum and Remmina", "https://electrum.readthedocs.io, https://gitlab.com/Remmina/Remmina/-/wikis", ("~/.electrum", "$XDG_CONFIG_HOME/remmina", "~/.remmina")),
    SecretPlace("KeePassXC", "https://keepassxc.org/docs/", ("$XDG_CONFIG_HOME/keepassxc",)),
    SecretPlace("macOS", "man security(1)", ("~/Library/Keychains", "~/Library/Cookies")),
    SecretPlace("Windows", "Credential Manager", ("~/AppData/Roaming/Microsoft/Credentials", "~/AppData/Local/Microsoft/Credentials")),
    SecretPlace("netrc", "man netrc(5)", ("~/.netrc", "~/_netrc", "~/.authinfo", "~/.authinfo.gpg"), ("NETRC",)),
    SecretPlace("pass", "https://www.passwordstore.org", ("~/.password-store",), ("PASSWORD_STORE_DIR",)),
    SecretPlace("wallets", "their documentation", ("~/.bitcoin", "~/.ethereum/keystore", "$XDG_CONFIG_HOME/solana/id.json")),
    # clouds and clusters
    SecretPlace("AWS", "https://docs.aws.amazon.com/cli/", ("~/.aws",), ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE")),
    SecretPlace("Alibaba Cloud", "https://github.com/aliyun/aliyun-cli", ("~/.aliyun",)),
    SecretPlace("Anyscale", "https://docs.anyscale.com/reference/cli/", ("~/.anyscale/credentials.json",)),
    SecretPlace("Apptainer", "https://apptainer.org/docs/user/main/docker_and_oci.html", ("~/.apptainer/docker-config.json", "~/.singularity/docker-config.json")),
    SecretPlace("Argo CD", "https://argo-cd.readthedocs.io/en/stable/user-guide/commands/argocd/", ("$XDG_CONFIG_HOME/argocd/config", "~/.argocd/config")),
    SecretPlace("Azure", "https://learn.microsoft.com/cli/azure/", ("~/.azure",), ("AZURE_CONFIG_DIR",)),
    SecretPlace("Boto and s3cmd", "https://boto.cloudhackers.com", ("~/.boto", "~/.s3cfg"), ("BOTO_CONFIG",)),
    SecretPlace("Cloudflare", "https://developers.cloudflare.com/workers/wrangler/", ("~/.cloudflared", "~/.wrangler/config", "$XDG_CONFIG_HOME/.wrangler/config")),
    SecretPlace("DigitalOcean", "https://docs.digitalocean.com/reference/doctl/", ("$XDG_CONFIG_HOME/doctl",)),
    SecretPlace("Docker", "https://docs.docker.com/reference/cli/docker/", ("~/.docker",), ("DOCKER_CONFIG",)),
    SecretPlace(
        "Google Cloud", "https://cloud.google.com/sdk/docs/configurations", ("$XDG_CONFIG_HOME/gcloud",),
        ("CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    SecretPlace("Helm", "https://helm.sh/docs/helm/helm/", ("$XDG_CONFIG_HOME/helm/registry", "$XDG_CONFIG_HOME/helm/repositories.yaml"), ("HELM_REGISTRY_CONFIG", "HELM_REPOSITORY_CONFIG")),
    SecretPlace("Cloud Foundry, IBM Cloud", "their command lines", ("~/.bluemix", "~/.cf/config.json")),
    SecretPlace("Kubernetes", "https://kubernetes.io/docs/concepts/configuration/", ("~/.kube",), ("KUBECONFIG",)),
    SecretPlace("Linode, Hetzner and Scaleway", "their command lines", ("$XDG_CONFIG_HOME/linode-cli", "~/.linode-cli", "$XDG_CONFIG_HOME/hcloud", "$XDG_CONFIG_HOME/scw"), ("HCLOUD_CONFIG", "SCW_CONFIG_PATH")),
    SecretPlace("Minikube", "https://minikube.sigs.k8s.io/docs/", ("~/.minikube",)),
    SecretPlace("MinIO", "https://min.io/docs/minio/linux/reference/minio-mc.html", ("~/.mc/config.json",)),
    SecretPlace("Modal", "https://modal.com/docs/reference/modal.config", ("~/.modal.toml",), ("MODAL_CONFIG_PATH",)),
    SecretPlace("ngrok", "https://ngrok.com/docs/agent/config/", ("$XDG_CONFIG_HOME/ngrok", "~/.ngrok2")),
    SecretPlace("OpenStack", "https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html", (
        "$XDG_CONFIG_HOME/openstack", "/etc/openstack",
    ), ("OS_CLIENT_CONFIG_FILE", "OS_CLIENT_SECURE_FILE")),
    SecretPlace("Oracle Cloud", "https://docs.oracle.com/iaas/Content/API/", ("~/.oci",), ("OCI_CLI_CONFIG_FILE",)),
    SecretPlace("Podman", "man containers-auth.json(5)", ("$XDG_CONFIG_HOME/containers/auth.json", "$XDG_RUNTIME_DIR/containers/auth.json"), ("REGISTRY_AUTH_FILE",)),
    SecretPlace("Ray", "https://docs.ray.io/en/latest/ray-security/token-auth.html", ("~/.ray/auth_token",), ("RAY_AUTH_TOKEN_PATH",)),
    SecretPlace("Pulumi", "https://www.pulumi.com/docs/iac/cli/", ("~/.pulumi/credentials.json",)),
    SecretPlace("RunPod, Lambda, Vast", "their command lines", ("~/.runpod", "~/.lambda_cloud", "~/.vast_api_key", "$XDG_CONFIG_HOME/vastai")),
    SecretPlace("SkyPilot", "https://docs.skypilot.co", ("~/.sky",)),
    SecretPlace("Teleport", "https://goteleport.com/docs/reference/cli/tsh/", ("~/.tsh",), ("TELEPORT_HOME",)),
    SecretPlace("Terraform", "https://developer.hashicorp.com/terraform/cli/", ("~/.terraform.d/credentials.tfrc.json", "~/.terraformrc")),
    SecretPlace("Vault", "https://developer.hashicorp.com/vault/docs/commands", ("~/.vault-token",)),
    SecretPlace("cloud services", "their command lines", (
        "$XDG_CONFIG_HOME/fly", "~/.fly", "~/.netlify", "$XDG_CONFIG_HOME/netlify", "$XDG_DATA_HOME/com.vercel.cli", "$XDG_CONFIG_HOME/configstore/firebase-tools.json",
        "~/.nebius", "~/.paperspace", "~/.railway", "~/.supabase/access-token", "$XDG_CONFIG_HOME/yandex-cloud",
    )),
    SecretPlace("rclone", "https://rclone.org/docs/", ("$XDG_CONFIG_HOME/rclone",), ("RCLONE_CONFIG",)),
    # data
    SecretPlace("Databricks and Snowflake", "their documentation", ("~/.databrickscfg", "~/.snowflake", "~/.snowsql"), ("DATABRICKS_CONFIG_FILE",)),
    SecretPlace("Snowflake's connections", "https://docs.snowflake.com/developer-guide/snowflake-cli/connecting/configure-cli", (
        "$XDG_CONFIG_HOME/snowflake", "~/Library/Application Support/snowflake",
    ), ("SNOWFLAKE_HOME",)),
    SecretPlace("dbt", "https://docs.getdbt.com/docs/core/connect-data-platform/profiles.yml", ("~/.dbt/profiles.yml",)),
    SecretPlace("DBeaver", "https://dbeaver.com/docs/dbeaver/Admin-Manage-Connections/", ("$XDG_DATA_HOME/DBeaverData/workspace6/*/.dbeaver/credentials-config.json",)),
    SecretPlace("MySQL", "https://dev.mysql.com/doc/refman/en/option-files.html", ("~/.my.cnf", "~/.mylogin.cnf")),
    SecretPlace("PostgreSQL", "https://www.postgresql.org/docs/current/libpq-pgpass.html", ("~/.pgpass",), ("PGPASSFILE",)),
    # hubs of models and experiments
    SecretPlace("ClearML", "https://clear.ml/docs/latest/docs/configs/clearml_conf", ("~/clearml.conf",), ("CLEARML_CONFIG_FILE",)),
    SecretPlace("Comet and Neptune", "their documentation", ("~/.comet.config", "~/.neptune.config")),
    SecretPlace("Earth Engine, Copernicus", "their documentation", ("~/.cdsapirc", "$XDG_CONFIG_HOME/earthengine/credentials"), ("CDSAPI_RC",)),
    SecretPlace("DVC", "https://dvc.org/doc/command-reference/config", ("$XDG_CONFIG_HOME/dvc/config", "~/Library/Application Support/dvc/config"), are_settings=True),
    SecretPlace("dstack, Metaflow, Polyaxon and ZenML", "their documentation", (
        "~/.dstack/config.yml", "~/.metaflowconfig", "~/.polyaxon/.auth", "$XDG_CONFIG_HOME/zenml/credentials.yaml",
    )),
    SecretPlace(
        "Hugging Face", "huggingface_hub/constants.py",
        ("$HF_HOME/token", "$HF_HOME/stored_tokens", "~/.huggingface/token"), ("HF_TOKEN_PATH", "HF_STORED_TOKENS_PATH"),
    ),
    SecretPlace("Kaggle", "https://www.kaggle.com/docs/api", ("~/.kaggle", "$XDG_CONFIG_HOME/kaggle"), ("KAGGLE_CONFIG_DIR",)),
    SecretPlace("Lightning", "https://lightning.ai/docs", ("~/.lightning/credentials.json",)),
    SecretPlace("MLflow", "https://mlflow.org/docs/latest/auth/", ("~/.mlflow/credentials",)),
    SecretPlace("ZenML's store", "https://docs.zenml.io/reference/global-settings", ("$XDG_CONFIG_HOME/zenml/config.yaml",), are_settings=True),
    SecretPlace("ModelScope", "https://www.modelscope.cn/docs", ("~/.modelscope/credentials", "$XDG_CACHE_HOME/modelscope/credentials")),
    SecretPlace("NVIDIA NGC", "https://docs.ngc.nvidia.com/cli/", ("~/.ngc",)),
    SecretPlace("Ollama", "https://docs.ollama.com", ("~/.ollama/id_ed25519",)),
    SecretPlace("OpenML", "https://openml.github.io/openml-python/", ("$XDG_CONFIG_HOME/openml/config", "~/.openml/config"), are_settings=True),
    SecretPlace("Prefect", "https://docs.prefect.io/v3/api-ref/cli/profile", ("~/.prefect/profiles.toml",)),
    SecretPlace("Replicate", "https://replicate.com/docs", ("$XDG_CONFIG_HOME/replicate",)),
    SecretPlace("Roboflow", "https://docs.roboflow.com", ("$XDG_CONFIG_HOME/roboflow/config.json",)),
    SecretPlace("Streamlit", "https://docs.streamlit.io/develop/api-reference/connections/secrets.toml", ("~/.streamlit/secrets.toml",)),
    SecretPlace("Synapse", "https://python-docs.synapse.org", ("~/.synapseConfig",)),
    SecretPlace("Weights & Biases", "https://docs.wandb.ai/guides/track/environment-variables", ("$XDG_CONFIG_HOME/wandb",), ("WANDB_CONFIG_DIR",)),
    # package indexes
    SecretPlace("Cargo", "https://doc.rust-lang.org/cargo/reference/config.html", ("$CARGO_HOME/credentials", "$CARGO_HOME/credentials.toml")),
    SecretPlace("Composer", "https://getcomposer.org/doc/articles/authentication-for-private-packages.md", ("$XDG_CONFIG_HOME/composer/auth.json",)),
    SecretPlace("Maven and Gradle", "their documentation", ("~/.m2/settings.xml", "~/.m2/settings-security.xml", "~/.gradle/gradle.properties")),
    SecretPlace("RubyGems", "https://guides.rubygems.org/command-reference/", ("~/.gem/credentials", "$XDG_DATA_HOME/gem/credentials")),
    SecretPlace("conda", "https://docs.anaconda.com/anaconda-repository/", ("$XDG_DATA_HOME/binstar", "~/.continuum", "~/.anaconda/keyring")),
    SecretPlace("conda's settings", "https://docs.conda.io/projects/conda/en/stable/user-guide/configuration/use-condarc.html", (
        "~/.condarc", "~/.conda/.condarc", "~/.conda/condarc", "$XDG_CONFIG_HOME/conda/.condarc", "$XDG_CONFIG_HOME/conda/condarc", "~/.mambarc",
        "~/.conda/condarc.d/*", "$XDG_CONFIG_HOME/conda/condarc.d/*", "/etc/conda/.condarc", "/etc/conda/condarc", "/etc/conda/condarc.d/*",
        "/var/lib/conda/.condarc", "/var/lib/conda/condarc", "/var/lib/conda/condarc.d/*",
    ), ("CONDARC",), are_settings=True),
    SecretPlace("mamba", "https://mamba.readthedocs.io", ("~/.mamba/auth",)),
    SecretPlace("NuGet", "https://learn.microsoft.com/nuget/reference/nuget-config-file", ("$XDG_CONFIG_HOME/NuGet/NuGet.Config", "~/.nuget/NuGet/NuGet.Config")),
    SecretPlace("Bun and pnpm", "their documentation", ("~/.bunfig.toml", "$XDG_CONFIG_HOME/.bunfig.toml", "$XDG_CONFIG_HOME/pnpm/rc")),
    SecretPlace("npm and Yarn", "https://docs.npmjs.com/cli/configuring-npm/npmrc", ("~/.npmrc", "~/.yarnrc.yml"), ("NPM_CONFIG_USERCONFIG",)),
    SecretPlace(
        "pip", "https://pip.pypa.io/en/stable/topics/configuration/",
        ("$XDG_CONFIG_HOME/pip", "~/.pip", "~/Library/Application Support/pip"), ("PIP_CONFIG_FILE",),
    ),
    SecretPlace("pip's settings for all users", "https://pip.pypa.io/en/stable/topics/configuration/", ("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/Library/Application Support/pip/pip.conf"), are_settings=True),
    SecretPlace("settings of an environment", "https://pip.pypa.io/en/stable/topics/configuration/ (site), https://docs.conda.io/projects/conda/en/stable/user-guide/configuration/use-condarc.html", (
        "$VIRTUAL_ENV/pip.conf", "$VIRTUAL_ENV/pip.ini", "$CONDA_PREFIX/.condarc", "$CONDA_PREFIX/condarc", "$CONDA_PREFIX/condarc.d/*",
    ), are_settings=True),
    SecretPlace("pixi", "https://pixi.sh/latest/deployment/authentication/", ("~/.rattler/credentials.json",), ("RATTLER_AUTH_FILE",)),
    SecretPlace("poetry, uv and pdm", "their documentation", (
        "$XDG_CONFIG_HOME/pypoetry/auth.toml", "$XDG_DATA_HOME/uv/credentials", "$XDG_CONFIG_HOME/pdm",
    )),
    SecretPlace("settings of poetry and uv", "their documentation", ("$XDG_CONFIG_HOME/pypoetry/config.toml", "$XDG_CONFIG_HOME/uv/uv.toml", "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml"), ("UV_CONFIG_FILE",), are_settings=True),
    SecretPlace("Nix and Cachix", "man nix.conf(5), https://docs.cachix.org", ("$XDG_CONFIG_HOME/nix/nix.conf", "/etc/nix/nix.conf", "$XDG_CONFIG_HOME/cachix/cachix.dhall"), are_settings=True),
    SecretPlace("twine", "https://packaging.python.org/en/latest/specifications/pypirc/", ("~/.pypirc",)),
    # code hosts
    SecretPlace("GitHub and GitLab", "https://cli.github.com/manual/", (
        "$XDG_CONFIG_HOME/gh", "$XDG_CONFIG_HOME/hub", "$XDG_CONFIG_HOME/glab-cli", "$XDG_CONFIG_HOME/github-copilot",
    ), ("GH_CONFIG_DIR", "GLAB_CONFIG_DIR")),
    SecretPlace("Gitea and Phabricator", "their command lines", ("$XDG_CONFIG_HOME/tea", "~/.arcrc")),
    SecretPlace("Sentry", "https://docs.sentry.io/cli/configuration/", ("~/.sentryclirc",)),
    SecretPlace("Mercurial", "man hgrc(5)", ("~/.hgrc", "$XDG_CONFIG_HOME/hg/hgrc"), ("HGRCPATH",), are_settings=True),
    SecretPlace("Subversion", "https://svnbook.red-bean.com/", ("~/.subversion/auth",)),
    SecretPlace("curl and wget", "man curl(1), wget(1)", ("~/.curlrc", "$XDG_CONFIG_HOME/curlrc", "~/.wgetrc", "/etc/wgetrc"), ("WGETRC",), are_settings=True),
    SecretPlace("git's settings", "https://git-scm.com/docs/git-config", ("~/.gitconfig", "$XDG_CONFIG_HOME/git/config"), ("GIT_CONFIG_GLOBAL",), are_settings=True),
    SecretPlace("git's settings for all users", "https://git-scm.com/docs/git-config", ("/etc/gitconfig",), ("GIT_CONFIG_SYSTEM",), are_settings=True),
    SecretPlace("git", "https://git-scm.com/docs/git-credential-store", ("~/.git-credentials", "$XDG_CONFIG_HOME/git/credentials")),
    # assistants: tokens, and what was said to them
    SecretPlace("Aider, Continue and Cline", "their documentation", ("~/.aider.conf.yml", "~/.continue/config.yaml", "~/.continue/.env", "~/.continue/sessions", "~/.cline/data")),
    SecretPlace("Claude Code", "https://code.claude.com/docs/", (
        "$CLAUDE_CONFIG_DIR/.credentials.json", "$CLAUDE_CONFIG_DIR/history.jsonl", "$CLAUDE_CONFIG_DIR/projects", "$CLAUDE_CONFIG_DIR/file-history", "~/.claude.json",
    )),
    SecretPlace("Codex", "https://developers.openai.com/codex/", ("$CODEX_HOME/auth.json", "$CODEX_HOME/history.jsonl", "$CODEX_HOME/sessions")),
    SecretPlace("Cursor", "https://docs.cursor.com", ("~/.cursor/mcp.json", "~/.cursor/chats", *(f"{data}/User/{part}" for data in ("$XDG_CONFIG_HOME/Cursor", "~/.cursor-server/data") for part in OF_EDITORS))),
    SecretPlace("Copilot", "https://docs.github.com/copilot/concepts/agents/about-copilot-cli", ("~/.copilot",)),
    SecretPlace("Gemini and Qwen", "https://github.com/google-gemini/gemini-cli, https://github.com/QwenLM/qwen-code", tuple(
        f"{folder}/{part}" for folder in ("~/.gemini", "~/.qwen") for part in ("oauth_creds.json", "mcp-oauth-tokens.json", ".env", "tmp")
    )),
    SecretPlace("OpenAI, Anthropic and llm", "their command lines", (
        "$XDG_CONFIG_HOME/openai", "~/.openai", "$XDG_CONFIG_HOME/anthropic", "~/.anthropic", "$XDG_CONFIG_HOME/io.datasette.llm",
    )),
    SecretPlace("Amazon Q, Amp, Augment, Codeium and Crush", "their documentation", (
        "$XDG_DATA_HOME/amazon-q", "$XDG_DATA_HOME/amp/secrets.json", "~/.augment/session.json", "~/.codeium/config.json", "$XDG_DATA_HOME/crush/crush.json",
    )),
    SecretPlace("Grok and pi", "https://github.com/superagent-ai/grok-cli, https://github.com/badlogic/pi-mono", ("~/.grok/user-settings.json", "~/.pi/agent/auth.json", "~/.pi/agent/sessions")),
    SecretPlace("Zed's conversations", "https://github.com/zed-industries/zed (crates/paths)", ("$XDG_DATA_HOME/zed/threads", "$XDG_DATA_HOME/zed/conversations")),
    SecretPlace("OpenCode and Goose", "their documentation", ("$XDG_DATA_HOME/opencode", "$XDG_CONFIG_HOME/goose")),
    SecretPlace("VS Code", "https://code.visualstudio.com/api/extension-capabilities/common-capabilities#data-storage", tuple(
        f"{data}/User/{part}" for part in OF_EDITORS for data in DATA_OF_EDITORS
    )),
    # settings of editors and assistants, in which people write keys: of servers that speak the Model Context Protocol, and of models
    SecretPlace("settings of editors of the family of VS Code", "https://code.visualstudio.com/docs/configure/settings, https://code.visualstudio.com/docs/copilot/customization/mcp-servers", tuple(
        f"{data}/User/{file}" for file in ("settings.json", "mcp.json") for data in DATA_OF_EDITORS
    ), are_settings=True),
    SecretPlace("settings of other editors", "https://zed.dev/docs/configuring-zed, https://www.sublimetext.com/docs/settings.html, man vim(1), https://neovim.io/doc/user/starting.html, https://docs.helix-editor.com, man emacs(1)", (
        "$XDG_CONFIG_HOME/zed/settings.json", "$XDG_CONFIG_HOME/sublime-text/Packages/User/*.sublime-settings", "~/.vimrc", "~/.vim/vimrc", "~/.gvimrc",
        "$XDG_CONFIG_HOME/nvim/init.lua", "$XDG_CONFIG_HOME/nvim/init.vim", "$XDG_CONFIG_HOME/helix/*.toml", "~/.emacs", "~/.emacs.d/init.el", "$XDG_CONFIG_HOME/emacs/init.el",
    ), are_settings=True),
    SecretPlace("settings of assistants", "https://code.claude.com/docs/en/settings, https://developers.openai.com/codex/config-reference, https://github.com/google-gemini/gemini-cli, https://opencode.ai/docs/config, https://docs.continue.dev/reference, https://aider.chat/docs/config/dotenv.html, https://kiro.dev/docs/mcp/configuration", (
        "$CLAUDE_CONFIG_DIR/settings.json", "$CODEX_HOME/config.toml", "~/.gemini/settings.json", "~/.qwen/settings.json", "$XDG_CONFIG_HOME/opencode/*.json*", "$XDG_CONFIG_HOME/amp/settings.json", "$XDG_CONFIG_HOME/crush/crush.json",
        "~/.continue/config.json", "~/.continue/config.ts", "~/.kiro/settings/mcp.json", "~/.codeium/windsurf/mcp_config.json", "~/.kimi/config.toml", "$XDG_CONFIG_HOME/Claude/*.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json", "~/.openhands/*.json", "~/.openhands/*.toml",
    ), are_settings=True),
    SecretPlace("assistants of the terminal", "https://github.com/sigoden/aichat, https://github.com/TheR1D/shell_gpt, https://github.com/charmbracelet/mods, https://github.com/danielmiessler/fabric, https://aider.chat/docs/config/dotenv.html", (
        "$XDG_CONFIG_HOME/aichat/*.yaml", "$XDG_CONFIG_HOME/shell_gpt/.sgptrc", "$XDG_CONFIG_HOME/mods/mods.yml", "$XDG_CONFIG_HOME/fabric/.env", "~/.aider/oauth-keys.env",
    )),
    SecretPlace("Jupyter's settings", "https://jupyter-server.readthedocs.io/en/latest/operators/public-server.html, https://jupyter-ai.readthedocs.io", (
        "~/.jupyter/*.json", "~/.jupyter/*.py", "$XDG_DATA_HOME/jupyter/jupyter_ai/config.json",
    ), are_settings=True),
    SecretPlace("other services and assistants", "their command lines", (
        "~/.databricks/token-cache.json", "$XDG_CACHE_HOME/dagshub/tokens", "~/.determined/auth.json", "~/.swanlab/.netrc", "$XDG_CONFIG_HOME/Bitwarden",
        "~/.circleci/cli.yml", "~/.gitlab-runner/config.toml", "~/.jfrog", "$XDG_CONFIG_HOME/stripe", "$XDG_CONFIG_HOME/hcp", "$XDG_DATA_HOME/goose",
        "~/.factory/auth.json", "~/.lakectl.yaml", "~/.zen", "~/.floorp", "~/.waterfox", "$XDG_CONFIG_HOME/rbw", "$XDG_DATA_HOME/rbw", "$XDG_CACHE_HOME/rbw", "$XDG_CONFIG_HOME/rustic", "~/.doppler", "~/.infisical",
        "/run/credentials", "/run/containers/0/auth.json", "/run/keys",
    )),
    # histories
    SecretPlace("Atuin and McFly", "https://docs.atuin.sh", ("$XDG_DATA_HOME/atuin", "$XDG_DATA_HOME/mcfly")),
    SecretPlace("Bash", "man bash(1)", ("~/.bash_history", "~/.bash_sessions"), ("HISTFILE",)),
    SecretPlace("IPython and Jupyter", "https://ipython.readthedocs.io", ("$IPYTHONDIR/profile_default/history.sqlite", "$IPYTHONDIR/profile_*/history.sqlite", "$XDG_DATA_HOME/jupyter/runtime"), ("JUPYTER_RUNTIME_DIR",)),
    SecretPlace("Python", "https://docs.python.org/3/using/cmdline.html", ("~/.python_history", "$XDG_DATA_HOME/ptpython/history", "$XDG_DATA_HOME/xonsh"), ("PYTHON_HISTORY",)),
    SecretPlace("database shells", "their manuals", ("~/.psql_history", "~/.mysql_history", "~/.sqlite_history", "~/.rediscli_history", "~/.dbshell", "~/.mongodb/mongosh", "~/.duckdb_history")),
    SecretPlace("fish, Nushell and PowerShell", "their documentation", (
        "$XDG_DATA_HOME/fish/*_history", "$XDG_CONFIG_HOME/nushell/history.txt", "$XDG_CONFIG_HOME/nushell/history.sqlite3",
        "$XDG_DATA_HOME/powershell/PSReadLine", "~/AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine",
    )),
    SecretPlace("gdb, irb, Julia and R", "their manuals", ("~/.gdb_history", "~/.irb_history", "~/.julia/logs/repl_history.jl", "~/.Rhistory")),
    SecretPlace("other shells", "man csh(1), ksh(1), ash(1)", ("~/.history", "~/.sh_history", "~/.ksh_history", "~/.ash_history", "~/.emacs.d/eshell/history")),
    SecretPlace("shells and Python that keep theirs where XDG says", "https://wiki.archlinux.org/title/XDG_Base_Directory", (
        "$XDG_STATE_HOME/bash", "$XDG_STATE_HOME/python_history", "$XDG_CACHE_HOME/zsh/history", "$XDG_CONFIG_HOME/zsh/.zsh_history",
    )),
    SecretPlace("less, Vim and Node", "their manuals", ("~/.lesshst", "~/.viminfo", "~/.node_repl_history", "$XDG_STATE_HOME/less", "$XDG_STATE_HOME/nvim/shada", "$XDG_DATA_HOME/nvim/shada")),
    SecretPlace("zsh", "man zshparam(1), zsh-newuser-install", ("~/.histfile", "$ZDOTDIR/.histfile", "~/.zsh_sessions", "$ZDOTDIR/.zsh_history", "~/.zsh_history", "~/.zhistory", "$XDG_STATE_HOME/zsh", "$XDG_DATA_HOME/zsh")),
    # browsers and mail
    SecretPlace("Chromium-based browsers", "https://chromium.googlesource.com/chromium/src/+/main/docs/user_data_dir.md", (
        "$XDG_CONFIG_HOME/google-chrome", "$XDG_CONFIG_HOME/chromium", "$XDG_CONFIG_HOME/BraveSoftware", "$XDG_CONFIG_HOME/microsoft-edge",
        "$XDG_CONFIG_HOME/google-chrome-beta", "$XDG_CONFIG_HOME/google-chrome-unstable", "$XDG_CONFIG_HOME/vivaldi", "$XDG_CONFIG_HOME/opera", "~/Library/Application Support/Google/Chrome",
        "~/AppData/Local/Google/Chrome/User Data", "~/AppData/Local/Microsoft/Edge/User Data",
    )),
    SecretPlace("Firefox and Thunderbird", "https://support.mozilla.org/kb/profiles-where-firefox-stores-user-data", (
        "~/.mozilla", "~/.thunderbird", "~/Library/Application Support/Firefox", "~/AppData/Roaming/Mozilla", "~/snap/firefox/common/.mozilla",
        "$XDG_CONFIG_HOME/mozilla", "~/.librewolf", "~/snap/thunderbird/common/.thunderbird",
    )),
    SecretPlace("browsers as Flatpak and snap", "https://docs.flatpak.org/en/latest/conventions.html, https://snapcraft.io/docs/data-locations", (
        "~/.var/app/org.mozilla.firefox", "~/.var/app/org.mozilla.Thunderbird", "~/.var/app/com.google.Chrome", "~/.var/app/org.chromium.Chromium",
        "~/.var/app/com.brave.Browser", "~/.var/app/com.microsoft.Edge", "~/snap/chromium/common/chromium",
    )),
    SecretPlace("Epiphany, Falkon and qutebrowser", "their documentation", ("$XDG_DATA_HOME/epiphany", "$XDG_CONFIG_HOME/falkon/profiles", "$XDG_DATA_HOME/qutebrowser")),
    SecretPlace("mail", "man msmtp(1), mbsync(1)", ("~/.msmtprc", "$XDG_CONFIG_HOME/msmtp/config", "~/.mbsyncrc", "$XDG_CONFIG_HOME/isyncrc", "~/.fetchmailrc")),
    SecretPlace("chats", "https://pidgin.im/help/, https://hexchat.readthedocs.io, https://weechat.org/files/doc/weechat/stable/weechat_user.en.html", (
        "~/.purple/accounts.xml", "$XDG_CONFIG_HOME/hexchat/servlist.conf", "~/.weechat/sec.conf", "$XDG_CONFIG_HOME/weechat/sec.conf",
    )),
    SecretPlace("irssi", "https://irssi.org/documentation/settings/", ("~/.irssi/config",), are_settings=True),
    SecretPlace("lftp", "man lftp(1)", ("~/.lftprc", "~/.lftp", "$XDG_CONFIG_HOME/lftp", "$XDG_DATA_HOME/lftp")),
    SecretPlace("messengers", "Electron's userData, https://github.com/telegramdesktop/tdesktop", (
        "$XDG_CONFIG_HOME/Slack", "$XDG_CONFIG_HOME/discord", "$XDG_CONFIG_HOME/Signal", "$XDG_CONFIG_HOME/Element", "$XDG_DATA_HOME/TelegramDesktop",
    )),
)  # fmt: skip


def candidates(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The paths of all places, whether they exist or not: where a variable says, and where they are without it."""
    yield from _of_places(home, environment, are_settings=False)


def settings_with_secrets(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The files of settings that have a secret in them."""
    for path in _of_places(home, environment, are_settings=True):
        try:
            text = read_regular_text(path)
        except FileTooLargeError:  # whoever reads it may find any in it
            yield path
            continue
        except (OSError, ValueError):
            continue
        if SECRET_SETTING.search(text):
            yield path


def without_hidden_settings(hidden: Collection[str], home: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables with which programs go on where files of settings exist and cannot be opened: git ends (config.c, ``do_git_config_sequence``),
    unless it is told of another file (since git 2.32)."""
    needed = {}
    for place in SECRET_PLACES:
        for variable in set(GIT_SETTINGS).intersection(place.variables):
            own = {os.path.realpath(os.path.expanduser(path)) for path in _of_place(place, home, environment)}
            if not own.isdisjoint(hidden):
                needed[variable] = os.devnull
    return needed


def _of_places(home: str, environment: Mapping[str, str], are_settings: bool) -> Iterator[str]:
    for place in SECRET_PLACES:
        if place.are_settings == are_settings:
            yield from _of_place(place, home, environment)


def _of_place(place: SecretPlace, home: str, environment: Mapping[str, str]) -> Iterator[str]:
    for variable in place.variables:
        yield from filter(None, environment.get(variable, "").split(os.pathsep))
    for path in place.paths:
        for expanded in _expanded(path, home, environment):
            # a home may have brackets in its name
            yield from glob.iglob(glob.escape(expanded).replace("[*]", "*")) if "*" in path else (expanded,)


def _expanded(path: str, home: str, environment: Mapping[str, str]) -> Iterator[str]:
    first, _, rest = path.partition("/")
    if first == "~":
        yield os.path.join(home, *rest.split("/")) if rest else home
        return
    if not first:
        yield path
        return
    moved = environment.get(first[1:])
    if moved:
        yield os.path.join(moved, *rest.split("/")) if rest else moved
    default = BASES[first]
    yield from _expanded(f"{default}/{rest}" if rest else default, home, environment)
