"""The links of the documentation and of the site lead to pages, and to places in them."""

from __future__ import annotations

import links


def test_no_link_of_the_documentation_or_the_site_is_broken() -> None:
    for folder, broken, checked in links.check_all():
        assert checked > 100, folder
        assert broken == []
