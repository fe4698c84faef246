"""JupyterHub for a class on one machine: each learner has an account, nbgrader's exchange passes work to and fro.

`SEEKLAB_CLASS` names a folder that all users may enter. It contains:

- `exchange/`, where all users may create folders (mode 1777); `exchange/seeklab/` belongs to the instructor.
- `settings/`, with the learners' `nbgrader_config.py`.
- `course/`, which only the instructor may read.
- `hub/`, which belongs to root.

Start the hub as root: only root may start a server under another account.
"""

import os
import sys
from pathlib import Path

c = get_config()

CLASS = Path(os.environ["SEEKLAB_CLASS"])

# Accounts of this machine. For those of a university: an authenticator of its own, such as OAuthenticator.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {"instructor"}

# Each learner's server runs as that learner, so that work in the exchange belongs to who handed it in.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
# From the environment that the hub itself runs in, where Seeklab is installed too.
c.Spawner.cmd = [str(Path(sys.executable).with_name("jupyterhub-singleuser"))]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {"SEEKLAB_CLASS": str(CLASS), "JUPYTER_CONFIG_PATH": str(CLASS / "settings")}
# A run keeps one core busy for seconds and less than 1 GiB.
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300
# Ends servers that nobody has used for an hour: `pip install jupyterhub-idle-culler`, see JupyterHub's manual.

# One origin for all: the page of one learner can act as another. Outside of a network that you trust, TLS and a
# sub-domain for each: c.JupyterHub.ssl_cert, ssl_key and subdomain_host.
c.JupyterHub.bind_url = os.environ.get("SEEKLAB_HUB", "http://127.0.0.1:8000")
