import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { documentDiagnostics, policyDiagnostics } from './policy-diagnostics.js'

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
