import pytest
import torch
from torch.testing import assert_close

from capsrl.model.capsules import CapsuleForms, DenseCapsules, FactoredCapsules
from tests.helpers import literal

P, T, R, D, M, H = 3, 5, 4, 6, 7, 8


def make(form, seed=0):
    torch.manual_seed(seed)
    forms = CapsuleForms(word_width=H, predicate_width=H, n_roles=R, size=D, rank=M, form=form)
    return forms.double(), torch.randn(P, T, H).double(), torch.randn(P, H).double()


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_pull_is_the_weighted_sum_of_the_capsules(form):
    forms, words, predicates = make(form)
    u = literal.word_capsules(forms, words, predicates)
    weights = torch.rand(P, T, R).double()
    expected = torch.zeros(P, R, D).double()
    for p in range(P):
        for i in range(T):
            for j in range(R):
                expected[p, j] += weights[p, i, j] * u[p, i, j]
    assert_close(forms(words, predicates).pull(weights), expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_one_weight_for_all_roles_is_that_weight_for_each(form):
    forms, words, predicates = make(form)
    capsules = forms(words, predicates)
    even = torch.rand(P, T, 1).double()
    assert_close(capsules.pull(even), capsules.pull(even.expand(-1, -1, R)), atol=1e-12, rtol=0)


@pytest.mark.parametrize("form", ["dense", "factored"])
def test_push_is_how_far_each_capsule_points_along_a_vector(form):
    forms, words, predicates = make(form)
    u = literal.word_capsules(forms, words, predicates)
    vectors = torch.randn(P, R, D).double()
    expected = torch.zeros(P, T, R).double()
    for p in range(P):
        for i in range(T):
            for j in range(R):
                expected[p, i, j] = sum(vectors[p, j, k] * u[p, i, j, k] for k in range(D))
    assert_close(forms(words, predicates).push(vectors), expected, atol=1e-10, rtol=0)


def test_dense_capsules_are_bilinear_forms_of_word_and_predicate():
    """Eq. 6 for one entry, index by index; the appended 1 lets each speak for itself."""
    forms, words, predicates = make("dense")
    x = torch.nn.functional.elu(forms.of_word(words))[1, 2].tolist() + [1.0]
    p = torch.nn.functional.elu(forms.of_predicate(predicates))[1].tolist() + [1.0]
    weight = forms.weight[3, 4].tolist()
    expected = sum(x[m] * weight[m][n] * p[n] for m in range(M + 1) for n in range(M + 1))
    capsules = forms(words, predicates)
    assert isinstance(capsules, DenseCapsules)
    one = torch.zeros(P, R, D).double()
    one[1, 3, 4] = 1.0
    assert capsules.push(one)[1, 2, 3].item() == pytest.approx(expected, abs=1e-10)


def test_factored_capsules_share_their_factors_among_the_roles():
    forms, words, predicates = make("factored")
    met = (forms.of_word(words)[1, 2] * forms.of_predicate(predicates)[1]).tolist()
    expected = sum(c * m for c, m in zip(forms.weight[3, 4].tolist(), met, strict=True))
    capsules = forms(words, predicates)
    assert isinstance(capsules, FactoredCapsules)
    one = torch.zeros(P, R, D).double()
    one[1, 3, 4] = 1.0
    assert capsules.push(one)[1, 2, 3].item() == pytest.approx(expected, abs=1e-10)
    assert forms.weight.numel() == R * D * M


@pytest.mark.parametrize("form", ["dense", "factored"])
@pytest.mark.parametrize("n_rest", [1, 5, H])
def test_the_product_with_a_part_of_the_words_can_be_taken_before(form, n_rest):
    """As when that part is the same for several predicates."""
    forms, words, predicates = make(form)
    vectors = torch.randn(P, R, D).double()
    rest = forms.of_rest(words[..., H - n_rest :])
    split = forms(words[..., : H - n_rest], predicates, rest)
    assert_close(split.push(vectors), forms(words, predicates).push(vectors), atol=1e-12, rtol=0)
