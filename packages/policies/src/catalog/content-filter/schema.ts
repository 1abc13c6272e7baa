import type { Static } from '@sinclair/typebox'
import {
  closed,
  oneOf,
  optionalFlag,
  optionalInteger,
  optionalList,
  optionalOneOf,
  optionalSize,
  policyOptions,
  string,
} from '../../shared/options.js'

const TARGET_PATTERN = "^(path|query|cookie|body|body:\\$.+|header:(\\*|[!#$%&'*+.^_`|~0-9A-Za-z-]+))$"

const target = string('`path`, `query`, `cookie`, `header:*`, `header:NAME`, `body` or `body:$.json.path`.', {
  pattern: TARGET_PATTERN,
  maxLength: 1024,
})

function actions(description: string) {
  return optionalOneOf(['block', 'remove', 'mask', 'log', 'tag'], description, 'block')
}

const decode = optionalList(
  oneOf(['url', 'html', 'unicode', 'base64', 'comments', 'spaces'], 'One way to undo a disguise.'),
  'What is undone before the pattern is looked for again: escapes of URLs (`url`), entities, and comments, instructions and CDATA sections of XML (`html`), escapes of JSON and scripts, wide, styled and invisible characters (`unicode`), values that are base64 as a whole, and longer ones within a text (`base64`), comments of SQL (`comments`), runs of white space (`spaces`).',
  { default: ['url', 'html', 'unicode'], uniqueItems: true },
)

const rule = closed('Something to look for.', {
  name: string('Its name in the traffic log; no client gets it.', { pattern: '^[\\w.:/-]{1,100}$' }),
  pattern: string('A regular expression in the syntax of RE2, found anywhere in the text.', {
    minLength: 1,
    maxLength: 4096,
  }),
  target: optionalList(
    target,
    'Where it is looked for: `path`, `query` and `cookie` (names and values), `header:*` (all but cookies), `header:NAME`, `body`, `body:$.json.path`. Of a response, headers and body only.',
    { default: ['query', 'body'], minItems: 1, maxItems: 50 },
  ),
  decode,
  action: actions(
    '`block` refuses; `remove` takes out the header, parameter, cookie, JSON value or matched text; `mask` puts `***` in the place of the matched text; `log` notes the name; `tag` notes it where conditions of later policies can read it, `vars["content-filter.tag"]`.',
  ),
  score: optionalInteger('What a `block` rule adds when there is a `threshold`.', {
    default: 5,
    minimum: 1,
    maximum: 1000,
  }),
  caseInsensitive: optionalFlag(true, 'Letters match whatever their case is.'),
  phase: optionalOneOf(['request', 'response'], 'Which message it looks at.', 'request'),
})

/** The configuration of `content-filter`. */
export const contentFilterSchema = policyOptions(
  {
    rules: optionalList(rule, 'Own rules.', { minItems: 1, maxItems: 500 }),
    packs: optionalList(
      oneOf(
        [
          'sqli',
          'sqli@1',
          'xss',
          'xss@1',
          'path-traversal',
          'path-traversal@1',
          'command-injection',
          'command-injection@1',
        ],
        'The name of a pack, with a version to keep it as it is.',
      ),
      'Ready rules for requests: `sqli`, `xss`, `path-traversal`, `command-injection`; `sqli@1` stays at that version when the gateway is updated.',
      { minItems: 1, maxItems: 8 },
    ),
    packTarget: optionalList(target, 'Where the rules of packs are looked for.', {
      default: ['path', 'query', 'header:*', 'cookie', 'body'],
      minItems: 1,
      maxItems: 50,
    }),
    packAction: actions(
      'What the rules of packs do; `remove` and `mask` need a `packTarget` without `path`.',
    ),
    except: optionalList(
      string('The name of a rule, such as `sqli/delay`.'),
      'Rules of packs that are left out, such as `sqli/select-from`.',
      { maxItems: 100 },
    ),
    threshold: optionalInteger(
      'Refuses when the scores of all `block` rules that were found reach this sum, each counted once; without it the first one refuses.',
      { minimum: 1, maximum: 100_000 },
    ),
    decodePasses: optionalInteger('How many times a disguise within a disguise is undone.', {
      default: 3,
      minimum: 1,
      maximum: 5,
    }),
    maxScanBytes: optionalSize(
      'Most that is looked at of a body, and of all the rest of a message together; 4mb at most.',
      '256kb',
    ),
    onExceed: optionalOneOf(
      ['block', 'pass', 'scan-prefix'],
      'What becomes of more than that: refused, let through without a look, or looked at as far as that.',
      'block',
    ),
  },
  [
    'A request that a `block` rule finds something in is refused with 403 `GW_CONTENT_BLOCKED`; a response is replaced by the same. The answer does not name the rule. The traffic log (fields `full`) does: `vars` has the names of all rules that were found in `content-filter.rule`, those that tag in `content-filter.tag`, and with `threshold` the sum in `content-filter.score`.',
    'Patterns have the syntax of RE2, which has no look-around and no back references: their time grows with the text only, whatever the pattern and the text are. One pass over a text finds the literals that the patterns need, and only patterns that can match are tried, so that a hundred rules cost little more than one on ordinary text. Bodies from 32 KB on are looked at on a thread of their own.',
    'A pattern is looked for in the text as it was received, and again each time the `decode` steps have changed something, up to `decodePasses` times. Too long forms of UTF-8 mean what they spell, and `+` is a space in queries and forms. Names and values of query parameters are looked at one by one, so that `^` and `$` mean theirs; a body is one text, also JSON, whose escapes `unicode` undoes.',
    '`body:$.path` takes names, positions, `*` and `..`, and looks at strings, numbers and booleans as text, at objects and arrays as JSON. A body that says it is JSON and is not is refused; one that does not say so is looked at if it is; in both, a name that stands twice is refused. `remove` and `mask` with `body` change the strings, numbers and booleans of JSON one by one, other bodies as text; what is found in the name of a member is not taken out, and the message is refused. A value with escapes is masked as a whole; where it was found in the name of a parameter or cookie, that is removed; where it cannot be distinguished from the rest of a body, the message is refused. A body of JSON that was changed is written again, in which numbers keep the digits of a double.',
    'Bodies are collected before they are looked at, so that nothing hides at the border of two chunks, and responses no longer stream. A body in a content coding is refused with 415 `GW_MEDIA_TYPE` (a response with 502 `GW_RESPONSE_INVALID`), whatever its size, and so is one in a charset that is not like ASCII or UTF-16. With `onExceed: block` a body over `maxScanBytes` is refused with 413, other content with 431; with `scan-prefix` such a body is refused only if a rule has a JSON path or changes the body.',
    'Packs are a net with wide meshes against what scanners send, not a proof that a backend is safe. Try them with `packAction: log`, leave out with `except` what your callers legitimately send, then block.',
  ],
)

/** The configuration of `content-filter`, derived from its schema. */
export type ContentFilterConfig = Static<typeof contentFilterSchema>
export type RuleConfig = NonNullable<ContentFilterConfig['rules']>[number]
