"""Sentences that look like lasting instructions."""

import pytest
from tests.hindsight.recorded import Path

from leafscar.hindsight.rules import is_said, rules_of, significant
from leafscar.model import as_entry


def found(text):
    """Instructions in one message of the user."""
    path = Path()
    path.user(text)
    return [rule.text for rule in rules_of(enumerate(as_entry(entry) for entry in path.entries))]


@pytest.mark.parametrize(
    "text",
    [
        "Never touch migrations/",
        "You must keep the public API stable.",
        "From now on answer in English",
        "Please don't commit anything",
        "Keep it short, and do not stop to ask me",
        "don\u2019t push to the main branch",
        "Make sure the tests pass",
        "Rules for today: prices are integer cents",
        "Under no circumstances delete the log",
        "Bitte immer auf Deutsch antworten",
        "no uses nunca la rama principal",
        "Réponds toujours en français",
        "반드시 테스트를 먼저 실행하세요 그리고",
        "提交之前必须先运行所有的测试用例",
        "テストは必ず最初に実行してくださいね",
    ],
)
def test_lasting_instructions(text):
    """Words that bind what comes later make an instruction."""
    assert found(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Fix the parser",
        "Why must it be so slow?",
        '"Why does it never end?"',
        "I don't know what is wrong here",
        "never",
        "```\nyou must never read this\n```",
        "~~~\nalways on",
        "<system-reminder>\nyou must always do this\n</system-reminder>",
        "<a>you must not read this</a> here",
        "<a x='y'>go on <a> you must never do it </a> then",
        "> you must quote me on this",
        "| always | a table of things |",
        "must " + "long " * 100,
        "a" * 20_001 + "\nyou must look this far",
        "",
    ],
)
def test_no_lasting_instructions(text):
    """Requests, questions, quotations, code, what a host put in tags, and what is too long or too short are none."""
    assert found(text) == []


def test_each_sentence_stands_alone_and_once():
    """Marks of lists are taken off, blanks joined, repetitions dropped; at most twenty of a message count."""
    assert found(
        "- Never   guess!  Read first. 2) Always ask me\n- Never guess!\n"
        "必ず先に全部読んでください。必ず最後に確認してください。"
    ) == [
        "Never guess!",
        "Always ask me",
        "必ず先に全部読んでください。",
        "必ず最後に確認してください。",
    ]
    assert len(found("\n".join(f"never use option {number} again" for number in range(30)))) == 20


def test_a_tag_without_its_end_hides_nothing():
    """Angle brackets of a user are text; many of them cost no more than few."""
    assert found("<path> you must never touch it") == ["<path> you must never touch it"]
    assert found("</path> you must never touch it") == ["</path> you must never touch it"]
    assert found("<b>go</b> you must never <i>touch</i> it") == ["you must never"]
    assert found("<a>" * 6_000) == []


def test_only_users_give_instructions():
    """What tools and models say is none."""
    path = Path()
    path.run(text="you must never do this")
    path.put({"role": "assistant", "content": "I will always do this"})
    path.entries.append({"type": "custom_message", "id": "c", "content": "you must always do this"})
    assert list(rules_of(enumerate(as_entry(entry) for entry in path.entries))) == []


def test_words_are_said_when_most_of_them_are():
    """Two thirds are enough, common words do not count, and nothing is never said."""
    words = significant("Never touch the migrations folder")
    assert words == {"touch", "migrations", "folder"}
    assert is_said(words, significant("the MIGRATIONS folder was left alone"))
    assert not is_said(words, significant("the folder"))
    assert not is_said(significant("do not"), words)
