"""The account of a discovery: what was tried, what was chosen, how sure, what next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unbraid.selection import LabelEffect, Ranking

from ._data import Source
from ._gather import Population
from ._plan import Plan, Standing

if TYPE_CHECKING:
    from ._found import Discovery, Quality


def account(
    found: "Discovery",
    source: Source,
    plan: Plan,
    population: Population,
    *,
    n_failed: int,
) -> str:
    """A page of text for people.

    Args:
        found: What was found.
        source: In which data.
        plan: What was tried.
        population: What became of it.
        n_failed: Runs that failed.
    """
    ranking = found.ranking
    parts = [
        _data(source),
        *(f"{note}\n" for note in plan.notes),
        _tried(plan, population, n_failed),
        _chosen(found),
        _table(ranking, population),
    ]
    if ranking.labels is not None:
        parts.append(_label_effect(ranking))
    if found.quality is not None:
        parts.append(_quality(found.quality))
    advice = _advice(found)
    parts.append("What to do next\n" + "".join(f"- {s}\n" for s in advice))
    return "\n".join(parts)


def _data(source: Source) -> str:
    shape = "x".join(map(str, source.dataset.image_shape))
    return f"{source.dataset.name}: {len(source.dataset):,} images of {shape}\n"


def _tried(plan: Plan, population: Population, n_failed: int) -> str:
    failed = f"; {n_failed} runs failed" if n_failed else ""
    dead = int((~population.evidence.is_alive).sum())
    silent = f"; {dead} models have no active latent" if dead else ""
    evolution = plan.study.runs()[0].evolution
    if evolution is not None:
        members = evolution.population
        return (
            f"Tried: {plan.n_seeds} populations of {members.size} members with "
            f"{members.models} models each, for up to {members.generations} "
            f"generations of {members.images:,} images{failed}{silent}.\n"
        )
    if not plan.rungs:
        return (
            f"Tried: {plan.n_configurations} configurations with {plan.n_seeds} seeds "
            f"each, {plan.steps:,} steps{failed}{silent}.\n"
        )
    rounds = [
        f"  {rung.description}{_kept(standings)}\n"
        for rung, standings in zip(plan.rungs, (*plan.results, ()), strict=True)
    ]
    return f"Tried, in rounds{failed}{silent}:\n{''.join(rounds)}"


def _kept(standings: Sequence[Standing]) -> str:
    """Which configurations went on to the next round."""
    names = [standing.name for standing in standings if standing.is_kept]
    return f"; kept: {', '.join(names)}" if names else ""


def _chosen(found: "Discovery") -> str:
    ranking = found.ranking
    if ranking.chosen is None:
        return f"Chosen: none. {ranking.reason}\n"
    lines = [f"Chosen: {ranking.chosen}. {ranking.reason}\n"]
    if found.explained is not None:
        lines.append(
            f"It reconstructs {found.explained:.0%} of the variation of the images; "
            "what is missing from the reconstructions is not in the codes either.\n"
        )
    if found.latents:
        lines.append("Its latents, those that do most first:\n")
        lines += [
            f"  z{latent.number:<3} says {latent.kl:5.2f} nats, changes a pixel by "
            f"{latent.change:.3f}\n"
            for latent in found.latents
        ]
    return "".join(lines)


def _table(ranking: Ranking, population: Population) -> str:
    """Configurations of the last round in order, with what the order comes from."""
    evidence = population.evidence
    udr, dynamics = evidence.udr(), evidence.dynamics()
    places = {name: place for place, name in enumerate(evidence.members)}
    width = max(len(spec.name) for spec in ranking.specifications)
    reproducible = evidence.reproducible()
    head = "agree  chance  again  dynamics  active     ELBO"
    lines = [f"{'configuration':{width}}  score  interval      {head}\n"]
    for spec in ranking.specifications:
        rows = evidence.members[spec.name]
        low, high = spec.interval
        values = [
            f"{spec.score:5.2f}",
            f"{low:.2f} to {high:.2f}",
            f"{udr[rows].mean():7.2f}",
            f"{evidence.chance.get(spec.name, float('nan')):6.2f}",
            f"{reproducible[rows].mean():5.1f}",
            f"{dynamics[places[spec.name]]:8.2g}",
            f"{evidence.active_latents[rows].mean():6.1f}",
            f"{evidence.elbo[rows].mean():8.1f}" if evidence.elbo is not None else "",
        ]
        lines.append(f"{spec.name:{width}}  {'  '.join(values)}\n")
    return "".join(lines)


def _label_effect(ranking: Ranking) -> str:
    effect = ranking.labels
    assert isinstance(effect, LabelEffect)
    same = effect.chosen_without == ranking.chosen
    without = (
        "The same model is chosen without them"
        if same
        else f"Without them it would be {effect.chosen_without or 'none'}"
    )
    return (
        f"Labels: {effect.n_labels} were given and decided {effect.weight:.0%} of the "
        f"score; the order with and without them agrees to {effect.agreement:.2f} "
        f"(Spearman). {without}.\n"
    )


def _quality(quality: "Quality") -> str:
    return (
        f"How good it was, by labels that were not used to choose: MIG "
        f"{quality.chosen:.3f}, above {quality.better_than:.0%} of the other models "
        f"(median {quality.median:.3f}, best {quality.best:.3f}).\n"
    )


def _advice(found: "Discovery") -> list[str]:
    ranking = found.ranking
    if ranking.chosen is None:
        return [
            "Try a larger --budget.",
            "Look at the data: `unbraid data check` finds pictures that are broken or "
            "all alike.",
        ]
    folder = found.folder
    advice = []
    if found.latents:  # of vectors there are no pictures
        advice.append(
            f"Look at {folder / 'traversals.png'}: each row is a latent, and should "
            "change one thing."
        )
    advice.append(
        f"Use it on new pictures: `unbraid encode {folder / 'model'} PICTURES -o "
        f"codes.csv`, or unbraid.encode(unbraid.load({str(folder / 'model')!r}), "
        f"PICTURES). The codes of all images are in {folder / 'codes.npy'}."
    )
    equals = sum(spec.group == 0 for spec in ranking.specifications)
    if equals > 1:
        advice.append(
            f"{equals} configurations cannot be told apart: a larger --budget gives "
            "longer runs and more seeds."
        )
    if found.model is not None and len(found.latents) == found.model.n_latents:
        advice.append(
            f"All {found.model.n_latents} latents are in use: the data may have more "
            "factors. Try more with --latents."
        )
    return advice
