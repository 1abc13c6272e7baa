import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCondition } from './index.js'

const MISTAKES: readonly (readonly [string, string])[] = [
  ['req.method = "GET"', "11: '=' is not an operator (use == to compare)"],
  ['req.method === "GET"', "11: '===' is not an operator (use ==)"],
  ['req.method <> "GET"', "11: '<>' is not an operator (use !=)"],
  ['req.path =~ "^/a"', `9: '=~' is not an operator (use req.path.matches("^/a"))`],
  ['req.method == "GET" & true', "20: '&' is not an operator (use && for a logical and)"],
  ['true | false', "5: '|' is not an operator (use || for a logical or)"],
  ['req.method == "GET" and true', "20: 'and' is not part of the language (use &&)"],
  ['true OR false', "5: 'OR' is not part of the language (use ||)"],
  ['not true', "0: 'not' is not part of the language (use !, for example !(a == b))"],
  ['not (true)', "0: unknown function 'not' (use !, for example !(a == b))"],
  ['req.method eq "GET"', "11: 'eq' is not part of the language (use ==)"],
  ['if (true) true', "0: 'if' is not part of the language (use condition ? a : b)"],
  ['True', "0: 'True' is not part of the language (write true in lower case)"],
  ['req.method == GET', '14: unknown variable: GET (quote it if it is a string: "GET")'],
  ["req.method == 'GET", "14: the string that starts here has no closing quote (add ')"],
  [
    "req.path == 'it's'",
    '16: a string ends before this word (use the other kind of quotes for a string that contains a quote)',
  ],
  ['req.path == “a”', `12: this quote is not allowed (use straight quotes: "text" or 'text')`],
  ['req.path.startWith("/a")', "0: unknown function 'startWith' (did you mean 'startsWith'?)"],
  ['startsWith(req.path, "/a")', `0: 'startsWith' is called on a string (write req.path.startsWith("..."))`],
  ['toLowerCase(req.path) == "a"', "0: unknown function 'toLowerCase' (use lower)"],
  [
    'req.path matches "/a"',
    `9: 'matches' is not part of the language (use a function, for example req.path.matches("^/a"))`,
  ],
  ['req.method in ("GET", "PUT")', `20: a list after 'in' needs square brackets (write in ["a", "b"])`],
  ['size(req.path) > "1"', '0: no such overload: int > string (remove the quotes around the number)'],
  ['req.path > 1', '0: no such overload: string > int (quote the number, or convert the text: int(...))'],
  ['!req.method', '0: no such overload: !string (compare the value, for example with == "")'],
  [
    'req.method != null',
    '0: no such overload: string != null (compare with an empty string, or use has(req.header.name))',
  ],
  ['req.contentLength > 10kb', "20: '10kb' is not a number (write the number without a unit)"],
  ['$req.method == "a"', '0: this character is not allowed (write names without it, for example req.path)'],
  ['{{ req.method }}', "0: '{{' is not an operator (write names without braces, for example req.path)"],
  ['', '0: the condition is empty (write it, or remove the key)'],
  ['true &&', '7: the condition is not complete (add the missing part at the end)'],
  [
    'req.path.size(1, 2) > 0',
    "0: wrong arguments for 'size': string.size(int, int) (see docs/guides/conditions.md for the syntax)",
  ],
]

for (const [text, expected] of MISTAKES) {
  test(`a mistake in a condition is explained: ${text}`, () => {
    const checked = checkCondition(text, 'policy')
    assert.ok(!checked.ok)
    assert.equal(`${checked.offset}: ${checked.message} (${checked.remedy})`, expected)
  })
}
