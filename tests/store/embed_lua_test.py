"""Tests of the parts of a script that embed_lua.py removes, and of the parts that it must keep."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "src" / "store"))

from embed_lua import literal, named, strip, whole  # noqa: E402


class Strip(unittest.TestCase):
    def test_comments_indentation_and_empty_lines_go(self):
        self.assertEqual(
            strip("-- head\n\n  local a = 1   -- one\n\n--[[ long\n comment ]]\n\treturn a\n"),
            "local a = 1\nreturn a\n",
        )

    def test_strings_stay(self):
        for script in (
            'return "-- no comment"',
            "return '--[[ nor this ]]  '",
            "return [[ --\n   kept  \n\n]]",
            "return [==[ ]] -- ]=] ]==]",
            r'return "\"-- still in it" .. "\\"',
            "return 'a  b\tc'",
        ):
            self.assertEqual(strip(script + " -- gone"), script + "\n")

    def test_what_a_comment_separated_stays_apart(self):
        self.assertEqual(strip("local--[[x]]a=1"), "local a=1\n")
        self.assertEqual(strip("local a --[==[ ]] \n ]==] = 1"), "local a = 1\n")
        self.assertEqual(strip("a=b--c\nd=e"), "a=b\nd=e\n")

    def test_operators_that_look_like_comments_or_strings(self):
        self.assertEqual(strip("return a - -1"), "return a - -1\n")
        self.assertEqual(strip("return t[a[1]]"), "return t[a[1]]\n")

    def test_parts_stand_where_they_are_included(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "a.lua"
            part = pathlib.Path(folder) / "parts" / "p.lua"
            part.parent.mkdir()
            part.write_text("local p = '\\1'\n")
            script.write_text("-- head\n-- include parts/p.lua\nreturn p -- include parts/q.lua\n")
            self.assertEqual(strip(whole(script)), "local p = '\\1'\nreturn p\n")
            script.write_text("-- include parts/q.lua\n")
            with self.assertRaises(FileNotFoundError):
                whole(script)

    def test_who_names_its_call_has_the_same_lines(self):
        script = "local a = ARGV[1]\nreturn a\n"
        lines = named(script).splitlines()
        self.assertTrue(lines[0].endswith(" local a = ARGV[1]"))
        self.assertEqual(lines[1], "return a")

    def test_literal(self):
        self.assertEqual(literal('a"\\\n\u00e4?'), '    "a\\"\\\\\\n"\n    "\\303\\244\\?"')


if __name__ == "__main__":
    unittest.main()
