"""The recipe's own configuration, and what a test changes: names without passwords, a token, free ports."""

import os
from pathlib import Path

c = get_config()
load_subconfig(os.environ["SEEKLAB_RECIPE"])

c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.services = [{"name": "test", "api_token": os.environ["SEEKLAB_HUB_TOKEN"]}]
c.JupyterHub.load_roles = [
    {"name": "test", "services": ["test"], "scopes": ["admin:users", "admin:servers", "tokens", "access:servers"]}
]
c.JupyterHub.hub_port = int(os.environ["SEEKLAB_HUB_PORT"])
c.ConfigurableHTTPProxy.command = os.environ["SEEKLAB_PROXY"]
c.ConfigurableHTTPProxy.api_url = os.environ["SEEKLAB_PROXY_API"]
# The test talks to servers with tokens; nobody's browser is in it.
c.JupyterHub.db_url = f"sqlite:///{Path(os.environ['SEEKLAB_CLASS']) / 'hub' / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(Path(os.environ["SEEKLAB_CLASS"]) / "hub" / "cookie_secret")
