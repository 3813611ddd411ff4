"""Grades as documents: for Gradescope and otter."""

from __future__ import annotations

from typing import Any

from ackclock.labs.grading import Grade


def gradescope(grade: Grade) -> dict[str, Any]:
    """Return a grade as Gradescope's `results.json`."""
    tests = [
        {
            "name": mark.question,
            "number": str(number),
            "score": mark.points,
            "max_score": mark.most,
            "status": "passed" if mark.full else "failed",
            "output": mark.feedback,
            "visibility": "visible",
        }
        for number, mark in enumerate(grade.marks, 1)
    ]
    board = [mark.board for mark in grade.marks if mark.board is not None]
    return {
        "score": grade.points,
        "output": "\n".join([f"Lab {grade.lab.name}: {grade.lab.title}", *grade.remarks]),
        "output_format": "text",
        "tests": tests,
        **({"leaderboard": [{"name": n, "value": round(v, 4)} for n, v in board]} if board else {}),
    }


def otter(grade: Grade) -> dict[str, Any]:
    """Return a grade as otter-grader's `GradingResults.from_ottr_json` reads it.

    Otter's cases are passed or not; an answer with a part of the points has two of them.
    """
    return {"test_file_results": [_test_file(mark) for mark in grade.marks]}


def _test_file(mark: Any) -> dict[str, Any]:
    parts = [(mark.points, True), (round(mark.most - mark.points, 2), False)]
    cases = [(points, passed) for points, passed in parts if points > 0]
    return {
        "filename": f"{mark.question}.py",
        "points": [points for points, _ in cases],
        "test_case_results": [
            {
                "passed": passed,
                "error": None if passed else mark.feedback,
                "test_case": {
                    "name": f"{mark.question} - {number}",
                    "code": "",
                    "hidden": False,
                    "points": points,
                    "success_message": mark.feedback if mark.full else None,
                    "failure_message": None,  # otter would print it beside the error
                },
            }
            for number, (points, passed) in enumerate(cases, 1)
        ],
    }


FORMATS = {"gradescope": gradescope, "otter": otter}
