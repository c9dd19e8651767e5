"""Secrets inside of values: webhooks, users of hosts, options and connection strings; what looks like them, and is none, is kept."""

from __future__ import annotations

import pytest

from compile_lens.workers.secret_parts import HIDDEN
from compile_lens.workers.secret_variables import hidden

PART = "aB3dE5fG7hJ9kL1mN3pQ5rS7"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (f"https://hooks.slack.com/services/T0AB/B0CD/{PART}", "https://hooks.slack.com/§"),
        (f"https://discord.com/api/webhooks/1234567890/{PART}?wait=true", "https://discord.com/api/webhooks/§?wait=true"),
        (f"https://x.webhook.office.com/webhookb2/{PART}", "https://x.webhook.office.com/webhookb2/§"),
        (f"notify https://chat.example/hooks/{PART} now", "notify https://chat.example/hooks/§ now"),
        (f"https://api.telegram.org/bot123456789:{PART}/getMe", "https://api.telegram.org/bot§/getMe"),
        ("me:planted@mail.example.org:25", "me:§@mail.example.org:25"),
        ("--url x --user me:planted --fast", "--url x --user me:§ --fast"),
        ("-u me:planted", "-u me:§"),
        ("postgres://me:pa,ss@db/x", "postgres://me:§@db/x"),
        ("smtp://me@corp.example:planted@smtp.example", "smtp://me@corp.example:§@smtp.example"),
        ("https://a.example/?pass=planted&pwd=planted", "https://a.example/?pass=§&pwd=§"),
        (f"https://a.example/?key=AIza{PART}&n=1", "https://a.example/?key=§&n=1"),
        (f"use 'ghp_{PART}' here", "use '§' here"),
        ("--db-password planted", "--db-password §"),
        ("--password='planted'", "--password='§'"),
        ("-Djavax.net.ssl.keyStorePassword=planted -Xmx1g", "-Djavax.net.ssl.keyStorePassword=§ -Xmx1g"),
        (f"--token={PART}", "--token=§"),
        ("Server=db;UID=me;PWD=planted;Timeout=3", "Server=db;UID=me;PWD=§;Timeout=3"),
        ("Server=db;Password='plan ted';", "Server=db;Password=§;"),
        ("Server=db;Pwd={plan;ted};", "Server=db;Pwd=§;"),
        ("host=db user=me password=planted dbname=x", "host=db user=me password=§ dbname=x"),
        (
            "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=abc==;EndpointSuffix=x",
            "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=§;EndpointSuffix=x",
        ),
        ("Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=abc=", "Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=§"),
        ("https://a.example/?password='plan ted'&n=1", "https://a.example/?password=§&n=1"),
        (f"https://a.example/f?code={PART}==&n=1", "https://a.example/f?code=§&n=1"),
        (f"https://a.example/?auth={PART}", "https://a.example/?auth=§"),
        ("me:planted@tcp(db:3306)/x", "me:§@tcp(db:3306)/x"),
        ("curl -H 'Authorization: Bearer planted' x", "curl -H 'Authorization: Bearer §' x"),
        ('{"Authorization": "Basic planted", "n": 1}', '{"Authorization": "Basic §", "n": 1}'),
        ("Private-Token: planted", "Private-Token: §"),
        ('{"user": "me", "db_password": "plan ted", "n": 1}', '{"user": "me", "db_password": "§", "n": 1}'),
        (f"token r8_{PART}", "token §"),
        (f'"SG.{PART}.{PART}"', '"§"'),
        (f"use xai-{PART}", "use §"),
    ],
)  # fmt: skip
def test_only_the_secret_is_replaced(value: str, shown: str) -> None:
    assert hidden({"SETTING": value}) == {"SETTING": shown.replace("§", HIDDEN)}


@pytest.mark.parametrize("name", ["SA_JSON_B64", "SIGNING_KEY_B64", "KUBE_BASE64", "CERT_BASE64_ENCODED", "X_B64_2"])
def test_what_is_encoded_is_hidden_whole(name: str) -> None:
    assert hidden({name: "aGVsbG8gd29ybGQgYWdhaW4="}) == {name: HIDDEN}


@pytest.mark.parametrize(
    "value",
    [
        "https://host.example/webhooks/docs",
        "https://host.example/hooks/",
        "git@host.example:group/project.git",
        "git@host.example:22/x",
        "me@host.example:/data",
        "python:3.12@sha256:0123abcd",
        "package.module:function@1.2.3",
        "--user 1000:1000",
        "-u 0:0 --rm",
        "--eos-token </s> --pad-token [PAD] --max-tokens 5",
        "--tokenizer bert-base-uncased-with-a-long-name",
        "--password-file /run/x",
        "--secret=$SECRET",
        "PWD=/home/me;OLDPWD=/",
        "host=db password=~/pw",
        "key=value;keys=3",
        "-Xmx1g -Duser=me",
        "-march=native -O2 -uname",
        "redis://host.example:6379/0",
        "https://a.example/?key=name&code=200&auth=basic&appid=my-app-of-long-name",
        '{"token": "<eos>", "pad_token": "[PAD]", "max_tokens": "512"}',
        "Authorization: none",
    ],
)
def test_what_is_no_secret_is_kept(value: str) -> None:
    assert hidden({"SETTING": value, "SHORT_B64": "abc"}) == {}
