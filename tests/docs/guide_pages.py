"""Checks and takes apart the pages of docs/guide.

guide_pages.py check: links, keys of projects, options of commands and quoted messages exist.
guide_pages.py commands PAGE FOLDER: writes the page's files into FOLDER, and prints its commands in their order."""

import glob
import os
import re
import subprocess
import sys

SOURCE, LIMBER = os.environ["SOURCE"], os.environ["LIMBER"]
GUIDE = os.path.join(SOURCE, "docs/guide")
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
faults = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def ask(*arguments):
    return subprocess.run([LIMBER, *arguments], capture_output=True, text=True, check=True).stdout


def commands(text, folder):
    """A block that names a file after its language becomes that file. Blocks of "sh" are run as they are; of those
    without a language the lines that call limber."""
    for head, body in BLOCK.findall(text):
        language, _, name = head.partition(" ")
        if name:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(body)
        elif language == "sh":
            print(body, end="")
        elif not language:
            print("".join(line + "\n" for line in body.splitlines() if line.startswith("limber ")), end="")


def check_links(page, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(GUIDE, path)) if path else page
        if not os.path.exists(target):
            faults.append(f"{page}: no file {link}")
        elif anchor:
            titles = re.findall(r"^#+ (.*)$", read(target), re.M)
            if anchor not in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}:
                faults.append(f"{page}: no heading {link}")


def project_keys():
    """KEY and SECTION.KEY of both kinds of projects."""
    keys = set()
    for kind in ("character", "limb"):
        section = ""
        for line in ask("run", "--reference", kind).splitlines():
            if line.startswith("## "):
                section = line.strip("# `")
            elif found := re.match(r"\| `(\w+)` \|", line):
                keys |= {found.group(1), f"{section}.{found.group(1)}"}
    return keys


def check_keys(page, text, keys, metrics):
    sections = {key.partition(".")[0] for key in keys if "." in key and " " not in key}
    for code in re.findall(r"`([^`\n]+)`", BLOCK.sub("", text)):
        found = re.match(r"([a-z_]+)\.(\w+)(?=$|:)", code)
        if found and found.group(1) in sections | {"network", "still_rms_mm"} and found.group(0) not in keys:
            # What is no key of a project is one of metrics.json, or a file.
            if found.group(2) not in metrics and not code.endswith((".vtu", ".yaml")):
                faults.append(f"{page}: no key {code}")
    for head, body in BLOCK.findall(text):
        if head.startswith("yaml"):
            for key in re.findall(r"(?:^|[{,])\s*-?\s*([a-z_]+):", body, re.M):
                if key not in keys | sections:
                    faults.append(f"{page}: a project with the key {key}, which there is not")


def check_options(page, text, options):
    for code in re.findall(r"`([^`\n]+)`", BLOCK.sub("", text)):
        found = re.match(r"(?:limber (\w+)[^`]* )?(--[a-z][a-z-]+)", code)
        if found and found.group(2) not in options.get(found.group(1), set().union(*options.values())):
            faults.append(f"{page}: no option {code}")
    for _, body in BLOCK.findall(text):
        for line in body.splitlines():
            if line.startswith("limber "):
                verb = line.split()[1]
                for option in re.findall(r"(?<=\s)--[a-z][a-z-]+", line.partition(" #")[0]):
                    if option not in options.get(verb, ()):
                        faults.append(f"{page}: {line}: no option {option}")


def check_messages(page, text):
    """What the tables quote, words with a space between: parts around "…" stand in one message of the program."""
    sources = "\n".join(read(path) for path in sorted(glob.glob(os.path.join(SOURCE, "src/*/*.c"))))
    said = re.sub(r'"\s+(?:PRI\w+\s+)?"', "", sources).replace('\\"', '"').replace("%%", "%")
    count = 0
    for row in re.findall(r"^\| (.*?) \|", text, re.M):
        for message in re.findall(r"`([^`]+)`", row):
            parts = [re.escape(part.strip()) for part in message.split("…") if part.strip(' "().')]
            if " " not in message or message.startswith("limber "):
                continue
            count += 1
            if not re.search(r"[^\n]{0,80}".join(parts), said):
                faults.append(f'{page}: the program never says "{message}"')
    return count


def check():
    keys = project_keys()
    metrics = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", read(os.path.join(SOURCE, "docs/formats/metrics.md"))))))
    verbs = re.findall(r"^  ([a-z]+)  ", ask("--help").partition("Verbs:")[2], re.M)
    options = {verb: set(re.findall(r"--[a-z][a-z-]+", ask(verb, "--help"))) for verb in verbs}
    index = read(os.path.join(GUIDE, "README.md"))
    messages = 0
    for page in sorted(glob.glob(os.path.join(GUIDE, "*.md"))):
        text, name = read(page), os.path.basename(page)
        check_links(page, text)
        check_keys(name, text, keys, metrics)
        check_options(name, text, options)
        if name != "README.md" and f"({name})" not in index:
            faults.append(f"README.md: does not name {name}")
        if name == "troubleshooting.md":
            messages = check_messages(name, text)
    if messages < 25:
        faults.append(f"only {messages} messages were looked up")
    print(f"{len(keys)} keys, {len(options)} verbs, {messages} messages")
    print("\n".join(faults))
    return 1 if faults else 0


if sys.argv[1] == "check":
    sys.exit(check())
commands(read(os.path.join(GUIDE, sys.argv[2])), sys.argv[3])
