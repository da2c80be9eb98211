"""Declares the options of campaigns for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from nyssa.jobs.convert import FileKeywords
from nyssa.jobs.merge import MergeKeywords
from nyssa.jobs.rewrite import RewriteKeywords

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["CampaignKeywords", "ConvertCampaign", "MergeCampaign", "RewriteCampaign"]


class CampaignKeywords(TypedDict, total=False):
    """What campaigns of all jobs take; `nyssa.campaign.convert` explains it."""

    target_size: int | str | None
    condense: int | None
    journal: str | Path | None
    retries: int
    quiet: bool
    plot: str | Path | None
    client: Client
    scheduler: str | None
    workers: int | None
    cluster: str | None
    cluster_options: Mapping[str, Any] | None
    threads: int
    per_node: int | None
    per_server: int | None


class ConvertCampaign(FileKeywords, CampaignKeywords, total=False):
    """The options of `nyssa.campaign.convert`."""

    tree: str | None


class RewriteCampaign(RewriteKeywords, CampaignKeywords, total=False):
    """The options of `nyssa.campaign.rewrite`."""


class MergeCampaign(MergeKeywords, CampaignKeywords, total=False):
    """The options of `nyssa.campaign.merge`."""

    cluster_size: int | str | None
