import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sessions } from '@sluice/core'
import { EMPTY_STATE } from '../state/control-state.js'
import type { Role } from '../store/log-entry.js'
import { Authenticator, mayUseGroup, newToken, type Person, SESSION_MS } from './access.js'

test('a star in a glob stands for any characters', () => {
  for (const [glob, group, expected] of [
    ['*', 'edge', true],
    ['edge', 'edge', true],
    ['edge', 'edge-eu', false],
    ['edge-*', 'edge-eu', true],
    ['edge-*', 'edge', false],
    ['*-eu', 'edge-eu', true],
    ['e*-*u', 'edge-eu', true],
    ['edge-*-eu', 'edge-eu', false],
    ['ab*ba', 'aba', false],
    ['*a*a*a*a*b', 'a'.repeat(63), false],
  ] as const)
    assert.equal(mayUseGroup({ groups: [glob] }, group), expected, `${glob} ${group}`)
})

test('wrong tokens lock an address out for further wrong ones, but not for a valid token', () => {
  const { text, sha256 } = newToken()
  const token = { token: 't', name: 'ci', role: 'deployer', groups: ['*'], scope: null, sha256 } as const
  const known = { ...token, createdAt: '', createdBy: '', isRevoked: false }
  const authenticator = new Authenticator(() => ({ ...EMPTY_STATE, tokens: new Map([['t', known]]) }))
  const attempt = (presented: string) => () =>
    authenticator.authenticate({ address: '10.0.0.1', authorization: `Bearer ${presented}` })
  for (let i = 0; i < 11; i++) assert.throws(attempt('wrong'), { code: 'GW_CONTROL_AUTH_INVALID' })
  assert.throws(attempt('wrong'), { code: 'GW_CONTROL_LOCKED_OUT' })
  assert.equal(attempt(text)().actor, 'ci')
})

test('a person has each role only for its groups, until the session ends', () => {
  let nowMs = 0
  const sessions = new Sessions<Person | string>(SESSION_MS, () => nowMs)
  const authenticator = new Authenticator(() => EMPTY_STATE, sessions)
  const grants = [
    { role: 'viewer', groups: ['*'] },
    { role: 'deployer', groups: ['edge'] },
  ] as const
  const sessionId = authenticator.logInPerson({ actor: 'ann', grants })
  const as = (required: Role) => {
    const caller = authenticator.authenticate({ address: '', authorization: '', sessionId, required })
    return [caller.role, caller.groups]
  }
  assert.deepEqual(as('viewer'), ['viewer', ['*', 'edge']])
  assert.deepEqual(as('deployer'), ['deployer', ['edge']])
  assert.deepEqual(as('admin'), ['deployer', ['edge']])
  nowMs = SESSION_MS
  assert.throws(() => as('viewer'), { code: 'GW_CONTROL_AUTH_MISSING' })
})
