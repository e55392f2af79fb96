"""Names of roles by one class of VerbNet for each sense, and of roles without links."""

from capsrl.frames.index import FrameRole, Roleset
from capsrl.frames.verbnet import name_roles

PAG, PPT, GOL = ("A0", "PAG"), ("A1", "PPT"), ("A2", "GOL")


def roleset(sense, *frames, roles=(PAG, PPT)):
    return Roleset(
        sense,
        roles=tuple(FrameRole(*role) for role in roles),
        links=tuple(f"framenet:{frame}" for frame in frames),
    )


def names(agents, themes):
    return {PAG: agents.split(), PPT: themes.split()}


def named(*rolesets):
    return {each.sense: [role.thematic for role in each.roles] for each in name_roles(rolesets)}


OWN, EAT = names("Pivot", "Theme"), names("Agent Agent", "Patient Patient")


def test_the_class_named_after_the_verb():
    links = {"eat-39.1": EAT, "own-100.1": OWN}
    assert named((roleset("own.01"), links)) == {"own.01": ["Pivot", "Theme"]}
    assert named((roleset("own_up.02"), links)) == {"own_up.02": ["Pivot", "Theme"]}


def test_the_class_whose_senses_share_frames():
    has = roleset("have.03", "Possession"), {"eat-39.1": EAT, "own-100.1": OWN}
    eats = roleset("gobble.01", "Ingestion"), {"eat-39.1": EAT}
    owns = roleset("possess.01", "Possession"), {"own-100.1": OWN}
    assert named(has, eats, owns)["have.03"] == ["Pivot", "Theme"]
    # Without such senses: the class that names more roles, then the one with more links.
    assert named(has, eats)["have.03"] == ["Agent", "Patient"]
    more = {"own-100.1": {**OWN, GOL: ["Goal"]}, "eat-39.1": EAT}
    three = roleset("have.03", roles=(PAG, PPT, GOL))
    assert named((three, more)) == {"have.03": ["Pivot", "Theme", "Goal"]}


def test_the_next_class_names_what_the_best_does_not():
    links = {"own-100.1": {PAG: ["Pivot"]}, "eat-39.1": EAT}
    assert named((roleset("own.01"), links)) == {"own.01": ["Pivot", "Patient"]}


def test_versions_that_differ():
    """The name that other senses of the class have, else that of the newest version."""
    knows = roleset("know.01"), {"grasp-87": names("Stimulus Experiencer", "Experiencer Stimulus")}
    grasps = roleset("fathom.01"), {"grasp-87": names("Experiencer", "Stimulus")}
    assert named(knows, grasps)["know.01"] == ["Experiencer", "Stimulus"]
    assert named(knows)["know.01"] == ["Stimulus", "Experiencer"]


def test_roles_without_links():
    linked = [
        (roleset(f"crave.0{n}", "Desiring"), {"want-32.1": names("Pivot", "Theme")})
        for n in range(3)
    ]
    eager = roleset("eager.01", "Desiring", roles=(PAG, GOL)), {}
    assert named(*linked, eager)["eager.01"] == ["Pivot", "Goal"]
    assert named(*linked[:2], eager)["eager.01"] == ["Agent", "Goal"]  # two senses prove nothing
    eats = roleset("eat.01", "Desiring"), {"eat-39.1": EAT}
    assert named(*linked, eats, eager)["eager.01"] == ["Pivot", "Goal"]
    assert named(*linked, eats, eats, eager)["eager.01"] == ["Agent", "Goal"]


def test_what_has_a_property_is_no_agent():
    good = roleset("good.02", roles=(PAG, ("A1", "PAG"), ("A3", "XYZ")))
    assert named((good, {})) == {"good.02": ["Agent", "Theme", None]}
