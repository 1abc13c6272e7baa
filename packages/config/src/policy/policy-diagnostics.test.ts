import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { documentDiagnostics, policyDiagnostics } from './policy-diagnostics.js'
import { withoutPosition } from './policy-file-position.js'

const TEXT = `version: 1
routes:
  - id: a
    policies:
      - id: p
        use: demo
        with:
          limits: [{ rate: 5 }]
`

function reported(message: string): string {
  const mistake = { route: 'a', policy: 'p', message, use: 'demo', config: {} }
  const [diagnostic] = policyDiagnostics({ text: TEXT, name: 'g' }, [mistake], new Map())
  return formatDiagnostic(diagnostic!)
}

test('a message of a policy is reported unchanged, whatever its punctuation', () => {
  for (const message of [
    "has both 'x' and 'y': use one of them",
    "the key 'a; set b' is listed twice; keep one",
  ])
    assert.equal(reported(message), `g:5:9: ${message} (gw policy doc demo lists the parameters)`)
})

test('a message of a policy that quotes a parameter is reported at its value', () => {
  assert.equal(
    reported("'limits' is odd"),
    "g:8:19: 'limits' is odd (gw policy doc demo lists the parameters)",
  )
  assert.equal(
    reported("'limits[0].rate' is odd"),
    "g:8:28: 'limits[0].rate' is odd (gw policy doc demo lists the parameters)",
  )
})

test('the text is not read again if there are no mistakes', () => {
  const source = {
    name: 'g',
    get text(): string {
      throw new Error('read again')
    },
  }
  assert.deepEqual(policyDiagnostics(source, [], new Map()), [])
  assert.deepEqual(documentDiagnostics(source, []), [])
})

const NESTED = `version: 1
policies:
  - id: shared
    use: demo
    with:
      origins:
        - '*'
      header: \${env:HEADER}
      schema:
        inline:
          properties:
            a: { type: objct }
            b: { $ref: '#/no' }
routes:
  - id: a
    policies: [shared]
`
const CONFIG = {
  origins: ['*'],
  header: 'x-a',
  strict: false,
  schema: { inline: { properties: { a: { type: 'objct' }, b: { $ref: '#/no' } } } },
}

const PLACES: readonly (readonly [string, string])[] = [
  ["the origin '*' is too much", '7:11'],
  ["the field 'x-a' is set by the gateway", '8:15'],
  ['the header is set twice', '8:15'],
  ["policy 'header' (demo): something is odd", '3:5'],
  ['/properties/a/type must be one of', '12:24'],
  ['cannot resolve the reference #/no', '13:24'],
  ["it refers to '#/no', which is not configured", '13:24'],
  ["'strict' needs more", '3:5'],
  ['no hint at all', '3:5'],
]

for (const [message, place] of PLACES) {
  test(`an error of a shared policy is reported at the value: ${message}`, () => {
    const mistake = { route: 'a', policy: 'shared', message, use: 'demo', config: CONFIG }
    const [diagnostic] = policyDiagnostics({ text: NESTED, name: 'g' }, [mistake], new Map())
    assert.equal(`${diagnostic!.line}:${diagnostic!.column}`, place)
  })
}

test('a position in a message about a file is not repeated, and the remedy is kept apart', () => {
  assert.deepEqual(
    withoutPosition("policy 'a' (openapi): /x/api.yaml line 2, column 3: wrong; fix it; really"),
    {
      message: "policy 'a' (openapi): wrong",
      remedy: 'fix it; really',
    },
  )
  assert.deepEqual(withoutPosition('wrong at line 2'), { message: 'wrong at line 2', remedy: 'fix the file' })
})
