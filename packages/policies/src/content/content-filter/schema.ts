import type { Configured } from '@sluice/core'
import * as field from '../../shared/options/options.js'

const TARGET_PATTERN = "^(path|query|cookie|body|body:\\$.+|header:(\\*|[!#$%&'*+.^_`|~0-9A-Za-z-]+))$"

const target = field.string(
  '`path`, `query`, `cookie`, `header:*`, `header:NAME`, `body` or `body:$.json.path`.',
  { pattern: TARGET_PATTERN, maxLength: 1024 },
)

function actions(description: string) {
  return field.optionalOneOf(['block', 'remove', 'mask', 'log', 'tag'], description, 'block')
}

const decode = field.optionalList(
  field.oneOf(['url', 'html', 'unicode', 'base64', 'comments', 'spaces'], 'A decoding step.'),
  'Decoding steps, after each of which the pattern is matched again. `url`: percent-encoding. `html`: entities, and XML comments, processing instructions and CDATA sections. `unicode`: JSON and script escapes, wide, styled and invisible characters. `base64`: base64 values and longer base64 parts of a text. `comments`: SQL comments. `spaces`: runs of white space.',
  { default: ['url', 'html', 'unicode'], uniqueItems: true },
)

const rule = field.closed(
  'A pattern to match.',
  {
    name: field.string('Name of the rule in the traffic log. Clients do not see it.', {
      pattern: '^[\\w.:/-]{1,100}$',
    }),
    pattern: field.string('Regular expression in RE2 syntax, matched anywhere in the text.', {
      minLength: 1,
      maxLength: 4096,
    }),
    targets: field.optionalList(
      target,
      'Parts of the message to scan: `path`, `query` and `cookie` (names and values), `header:*` (all headers except cookies), `header:NAME`, `body`, `body:$.json.path`. Responses have only headers and a body.',
      { default: ['query', 'body'], minItems: 1, maxItems: 50 },
    ),
    decode,
    action: actions(
      'Action on a match. `block` refuses the message. `remove` deletes the header, parameter, cookie, JSON value or matched text. `mask` replaces the matched text with `***`. `log` records the rule name. `tag` also makes it available to conditions of later policies as `vars["content-filter.tag"]`.',
    ),
    score: field.optionalInteger('Score of a `block` rule, used with `threshold`.', {
      default: 5,
      minimum: 1,
      maximum: 1000,
    }),
    caseInsensitive: field.optionalFlag(true, 'Ignores case.'),
    phase: field.optionalOneOf(['request', 'response'], 'Message to scan.', 'request'),
  },
  { deprecatedKeys: { target: 'targets' } },
)

/** Schema of the configuration of `content-filter`. */
export const contentFilterSchema = field.policyOptions(
  {
    rules: field.optionalList(rule, 'Your own rules.', { minItems: 1, maxItems: 500 }),
    packs: field.optionalList(
      field.oneOf(
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
        'Name of a pack, with an optional version that fixes its rules.',
      ),
      'Built-in rules for requests: `sqli`, `xss`, `path-traversal`, `command-injection`. A name with a version, such as `sqli@1`, keeps its rules when the gateway is updated.',
      { minItems: 1, maxItems: 8 },
    ),
    packTargets: field.optionalList(target, 'Parts of the request that packs scan.', {
      default: ['path', 'query', 'header:*', 'cookie', 'body'],
      minItems: 1,
      maxItems: 50,
    }),
    packAction: actions('Action of pack rules. `remove` and `mask` need a `packTargets` without `path`.'),
    except: field.optionalList(
      field.string('The name of a rule, such as `sqli/delay`.'),
      'Pack rules to disable, such as `sqli/select-from`.',
      { maxItems: 100 },
    ),
    threshold: field.optionalInteger(
      'Sum of scores at which a message is refused. Each matching `block` rule counts once. Without a threshold, the first match refuses.',
      { minimum: 1, maximum: 100_000 },
    ),
    decodePasses: field.optionalInteger('Maximum number of nested encodings to decode.', {
      default: 3,
      minimum: 1,
      maximum: 5,
    }),
    maxScanBytes: field.optionalSize(
      'Maximum size to scan, separately for the body and for the rest of the message. At most 4mb.',
      '256kb',
    ),
    onExceed: field.optionalOneOf(
      ['block', 'pass', 'scan-prefix'],
      'Action on larger content: refuse it (`block`), pass it without scanning (`pass`), or scan only the beginning (`scan-prefix`).',
      'block',
    ),
  },
  [
    'A request that matches a `block` rule gets 403 `GW_CONTENT_BLOCKED`. A matching response is replaced with the same error. The client does not learn which rule matched. The traffic log (fields `full`) does record it in `vars`: `content-filter.rule` has the names of all matching rules, `content-filter.tag` those of tagging rules, and with `threshold`, `content-filter.score` has the sum.',
    'Patterns use RE2 syntax, without look-around and back-references, so matching time is always linear in the length of the text. One pass finds the literals that the patterns need, and only patterns that can match are tried. A hundred rules therefore cost little more than one on ordinary text. Bodies of 32 KB and more are scanned on a separate thread.',
    'Patterns are matched against the received text, and again after each `decode` step that changes it, up to `decodePasses` times. Overlong UTF-8 is decoded, and `+` is a space in queries and forms. Names and values of query parameters are matched one at a time, so `^` and `$` refer to a single name or value. A body is matched as one text. This includes JSON, whose escapes `unicode` decodes.',
    '`body:$.path` supports names, indexes, `*` and `..`. Strings, numbers and booleans are matched as text, objects and arrays as JSON. A body declared as JSON must be valid JSON, and other bodies are treated as JSON if they are valid. Duplicate names are refused in both cases. With target `body`, `remove` and `mask` change JSON strings, numbers and booleans one at a time, and other bodies as text. A match in a member name cannot be removed, so the message is refused. A value with escapes is masked as a whole. A parameter or cookie whose name matches is removed. If a match cannot be separated from the rest of a body, the message is refused. A changed JSON body is serialised again, with numbers in double precision.',
    'Bodies are buffered before they are scanned, so a match cannot hide between two chunks, and responses no longer stream. A body with a content coding, or in a charset other than UTF-16 or an ASCII-compatible one, is refused: requests with 415 `GW_MEDIA_TYPE`, responses with 502 `GW_RESPONSE_INVALID`. With `onExceed: block`, a body over `maxScanBytes` is refused with 413, other content with 431. With `scan-prefix`, such a body is refused only if a rule has a JSON path or changes the body.',
    'Packs catch what common scanners send. They do not prove that a backend is safe. Start with `packAction: log`, exclude rules that match legitimate traffic with `except`, then block.',
  ],
  { deprecatedKeys: { packTarget: 'packTargets' } },
)

/** Configuration of `content-filter`, derived from its schema. */
export type ContentFilterConfig = Configured<typeof contentFilterSchema>
/** Entry of `rules`. */
export type RuleConfig = NonNullable<ContentFilterConfig['rules']>[number]
