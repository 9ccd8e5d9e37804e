"""The summary of a discovery: what was tried, what was chosen, how sure, what next."""

import math
from collections.abc import Sequence

from unbraid.selection import SCORE_NAMES, LabelEffect, Ranking

from ._discovery import Discovery, FailedRun, Quality
from ._facts import ConfigurationFacts, DiscoveryFacts
from ._plan import Standing


def summarize(discovery: Discovery, facts: DiscoveryFacts) -> str:
    """Return the summary of a discovery as text.

    Args:
        discovery: Result of the discovery.
        facts: Facts about its data, its runs and their comparison.
    """
    shape = "x".join(map(str, facts.image_shape))
    ranking = discovery.ranking
    parts = [
        f"{facts.data_name}: {facts.n_images:,} images of {shape}\n",
        *(f"{note}\n" for note in facts.plan.notes),
        _describe_runs(facts),
        *_list_failures(discovery.failures),
        _describe_choice(discovery),
        _format_table(ranking, facts),
        *_describe_single_choices(ranking),
    ]
    if ranking.labels is not None:
        parts.append(_describe_labels(ranking.labels, ranking.chosen))
    if discovery.quality is not None:
        parts.append(_describe_quality(discovery.quality))
    advice = _give_advice(discovery)
    parts.append("What to do next\n" + "".join(f"- {s}\n" for s in advice))
    return "\n".join(parts)


def _describe_runs(facts: DiscoveryFacts) -> str:
    plan = facts.plan
    evolution = plan.study.runs()[0].evolution
    if evolution is not None:
        members = evolution.population
        return (
            f"Tried: {plan.n_seeds} populations of {members.size} members with "
            f"{members.models} models each, for up to {members.generations} "
            f"generations of {members.images:,} images.\n"
        )
    if not plan.rungs:
        return (
            f"Tried: {plan.n_configurations} configurations with {plan.n_seeds} seeds "
            f"each, {plan.steps:,} steps.\n"
        )
    rounds = [
        f"  {rung.description}{_describe_kept(standings)}\n"
        for rung, standings in zip(plan.rungs, (*plan.results, ()), strict=True)
    ]
    return f"Tried, in rounds:\n{''.join(rounds)}"


def _list_failures(failures: Sequence[FailedRun]) -> list[str]:
    """Name the runs that failed to learn, each with the reason."""
    if not failures:
        return []
    lines = [f"  {failure.name}: {failure.reason}\n" for failure in failures]
    return ["".join(["Failed to learn:\n", *lines])]


def _describe_kept(standings: Sequence[Standing]) -> str:
    """Name the configurations that went on to the next round."""
    names = [standing.name for standing in standings if standing.is_kept]
    return f"; kept: {', '.join(names)}" if names else ""


def _describe_choice(discovery: Discovery) -> str:
    ranking = discovery.ranking
    if ranking.chosen is None:
        return f"Chosen: none. {ranking.reason}\n"
    lines = [f"Chosen: {ranking.chosen}. {ranking.reason}\n"]
    if discovery.explained is not None:
        lines.append(
            f"It reconstructs {discovery.explained:.0%} of the variation of the "
            "images; what is missing from the reconstructions is not in the codes "
            "either.\n"
        )
    if discovery.latents:
        lines.append("Its latents, the most informative first:\n")
        lines += [
            f"  z{latent.number:<3} {latent.kl:5.2f} nats, changes pixels by "
            f"{latent.change:.3f} on average\n"
            for latent in discovery.latents
        ]
    return "".join(lines)


def _format_table(ranking: Ranking, facts: DiscoveryFacts) -> str:
    """List the configurations of the last round in order, with their evidence."""
    configurations = {each.name: each for each in facts.configurations}
    width = max(len(spec.name) for spec in ranking.specifications)
    head = "agree  chance  again  dynamics  active     ELBO"
    lines = [f"{'configuration':{width}}  score  interval      {head}\n"]
    for spec in ranking.specifications:
        low, high = spec.interval
        score = f"{spec.score:5.2f}  {low:.2f} to {high:.2f}"
        evidence = _format_evidence(configurations[spec.name])
        lines.append(f"{spec.name:{width}}  {score}  {evidence}\n")
    return "".join(lines)


def _describe_single_choices(ranking: Ranking) -> list[str]:
    """Say what single scores would choose, if that is another model."""
    others = {
        score: name for score, name in ranking.alone.items() if name != ranking.chosen
    }
    if ranking.chosen is None or not others:
        return []
    lines = [f"  {SCORE_NAMES[score]}: {name}\n" for score, name in others.items()]
    return ["Single scores that would choose another model:\n" + "".join(lines)]


def _format_evidence(facts: ConfigurationFacts) -> str:
    columns = (
        (facts.agreement, "7.2f"),
        (facts.chance, "6.2f"),
        (facts.found_again, "5.1f"),
        (facts.dynamics, "8.2g"),
        (facts.active_latents, "6.1f"),
        (facts.elbo, "8.1f"),
    )
    return "  ".join(
        format(math.nan if value is None else value, width) for value, width in columns
    )


def _describe_labels(effect: LabelEffect, chosen: str | None) -> str:
    without = (
        "The same model is chosen without them"
        if effect.chosen_without == chosen
        else f"Without them it would be {effect.chosen_without or 'none'}"
    )
    return (
        f"Labels: {effect.n_labels} were given and decided {effect.weight:.0%} of the "
        f"score; the order with and without them agrees to {effect.agreement:.2f} "
        f"(Spearman). {without}.\n"
    )


def _describe_quality(quality: Quality) -> str:
    return (
        f"How good it was, by labels that were not used to choose: MIG "
        f"{quality.chosen:.3f}, above {quality.better_than:.0%} of the other models "
        f"(median {quality.median:.3f}, best {quality.best:.3f}).\n"
    )


def _give_advice(discovery: Discovery) -> list[str]:
    ranking = discovery.ranking
    if ranking.chosen is None:
        return [
            "Try a larger --budget.",
            "Check the data: `unbraid data check` lists damaged and duplicate images.",
        ]
    folder = discovery.folder
    advice = []
    if discovery.latents:  # vectors have no pictures
        advice.append(
            f"Look at {folder / 'traversals.png'}: each row is a latent, and should "
            "change one thing."
        )
        advice.append(
            f"Look at {folder / 'worst-reconstructions.png'}: the model has not "
            "learned what is missing in the lower rows."
        )
    advice.append(
        f"Use it on new pictures: `unbraid encode {folder / 'model'} PICTURES -o "
        f"codes.csv`, or unbraid.encode(unbraid.load({str(folder / 'model')!r}), "
        f"PICTURES). The codes of all images are in {folder / 'codes.npy'}."
    )
    n_equal = sum(spec.group == 0 for spec in ranking.specifications)
    if n_equal > 1:
        advice.append(
            f"{n_equal} configurations cannot be told apart: a larger --budget gives "
            "longer runs and more seeds."
        )
    model = discovery.model
    if model is not None and len(discovery.latents) == model.n_latents:
        advice.append(
            f"All {model.n_latents} latents are in use: the data may have more "
            "factors. Try more with --latents."
        )
    return advice
