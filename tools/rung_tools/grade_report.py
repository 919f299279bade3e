"""A grade as a table, as JSON, and in the forms that Gradescope, GitHub Classroom and JUnit readers take."""

import csv
import io
import json
import textwrap
import xml.etree.ElementTree as ElementTree

SCHEMA, VERSION = "rung-grade", 1


def as_json(grade):
    return {
        "schema": SCHEMA, "version": VERSION, "submission": grade.submission, "chapter": grade.chapter, "title": grade.title,
        "points": {"earned": grade.earned, "possible": grade.possible, "skipped": grade.skipped},
        "build": {"status": grade.build, "message": grade.message},
        "sanitize": grade.sanitize, "calibration": grade.calibration, "limit_s": grade.limit_s,
        "tasks": [{"id": t.id, "title": t.title, "points": t.points, "earned": t.earned, "status": t.status, "message": t.message,
                   "hint": t.hint, "read": t.read, "hidden": t.hidden,
                   "tests": [{"name": r.name, "status": r.status, "message": r.message, "seconds": r.seconds} for r in t.results]}
                  for t in grade.tasks],
    }


def table(grade, width=120):
    lines = [f"{grade.submission}: chapter {grade.chapter[:2]}, {grade.title}"]
    if grade.sanitize:
        lines[0] += f" (under the {grade.sanitize} sanitizer)"
    if grade.build != "ok":
        lines += ["  " + line for line in grade.message.split("\n")]
    for task in grade.tasks:
        lines.append(f"  {task.id:6} {task.earned:3}/{task.points:<3} {task.status:9} {task.title}")
        for label, text in (("", task.message), ("hint: ", task.hint), ("read: ", task.read)):
            if text and task.status != "skipped" and (task.status not in ("pass", "not built") or not label):
                lines += textwrap.wrap(label + text, width, initial_indent=" " * 9, subsequent_indent=" " * 11,
                                       break_long_words=False, break_on_hyphens=False)
            elif text and task.status == "skipped" and not label:
                lines.append(" " * 9 + text)
    left = f"; {grade.skipped} more could not be graded on this machine" if grade.skipped else ""
    lines.append(f"  {grade.earned} of {grade.possible} points{left}")
    return "\n".join(lines)


def gradescope(grade):
    """results.json as Gradescope's autograder specification has it; skipped tasks stand there without points."""
    tests = []
    for number, task in enumerate(grade.tasks, 1):
        skipped = task.status == "skipped"
        text = "\n".join(t for t in (task.message, f"hint: {task.hint}" if task.status not in ("pass", "skipped") and task.hint else "",
                                     f"read: {task.read}" if task.status not in ("pass", "skipped") and task.read else "") if t)
        tests.append({"number": str(number), "name": f"{task.id} {task.title} ({task.status})", "score": task.earned,
                      "max_score": 0 if skipped else task.points, "output": text,
                      "visibility": "after_published" if task.hidden else "visible"})
    return {"score": grade.earned, "output": grade.message or f"{grade.earned} of {grade.possible} points", "tests": tests}


def github_classroom(grade):
    """What one test runner hands to GitHub Classroom's autograding reporter, before base64; skipped tasks are left out."""
    tests = []
    for task in grade.tasks:
        if task.status != "skipped":
            tests.append({"name": f"{task.id} {task.title}", "status": "pass" if task.status == "pass" else "fail", "score": task.earned,
                          "message": task.message, "test_code": "; ".join(task.tests), "filename": "", "line_no": 0,
                          "execution_time": f"{sum(r.seconds for r in task.results):.2f}s"})
    status = "pass" if grade.full else "error" if grade.build != "ok" else "fail"
    return {"version": 1, "status": status, "max_score": grade.possible, "tests": tests}


def junit(grade):
    suites = ElementTree.Element("testsuites", name=grade.submission)
    for task in grade.tasks:
        results = task.results or [None]
        suite = ElementTree.SubElement(suites, "testsuite", name=f"{task.id} {task.title}", tests=str(len(results)))
        counts = {"failures": 0, "errors": 0, "skipped": 0}
        for result in results:
            name, status = (result.name, result.status) if result else (task.title, task.status)
            message = (result.message if result else task.message or grade.message) or status
            case = ElementTree.SubElement(suite, "testcase", classname=task.id, name=name, time=f"{result.seconds if result else 0:.2f}")
            kind = {"pass": None, "skipped": "skipped", "crash": "error", "timeout": "error", "not built": "error"}.get(status, "failure")
            if kind:
                counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]] += 1
                ElementTree.SubElement(case, kind, message=message)
        for key, count in counts.items():
            suite.set(key, str(count))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def formatted(grade, form):
    if form == "junit":
        return junit(grade)
    return json.dumps({"gradescope": gradescope, "github-classroom": github_classroom}[form](grade), indent=2, ensure_ascii=False) + "\n"


def class_csv(grades):
    """One row a submission: name, points, possible, percent, then each task's points and status, and what went wrong with the whole."""
    ids = list(dict.fromkeys(t.id for g in grades for t in g.tasks))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["submission", "chapter", "points", "possible", "percent", "build"] + [c for i in ids for c in (i, f"{i} status")] + ["comment"])
    for grade in grades:
        by_id = {t.id: t for t in grade.tasks}
        cells = [c for i in ids for c in ((by_id[i].earned, by_id[i].status) if i in by_id else ("", ""))]
        percent = f"{100 * grade.earned / grade.possible:.1f}" if grade.possible else ""
        writer.writerow([_cell(grade.submission), grade.chapter, grade.earned, grade.possible, percent, grade.build, *cells,
                         _cell(grade.message.split("\n")[0])])
    return out.getvalue()


def _cell(text):
    """Text that no spreadsheet takes for a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
