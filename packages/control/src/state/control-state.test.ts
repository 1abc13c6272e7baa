import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent, NumberedEntry } from '../store/log-entry.js'
import { EMPTY_STATE, groupOf, keptBundles, stateAfter } from './control-state.js'

const STARTED = { type: 'deploy.started', group: 'edge', note: '', rollbackTo: null } as const

function started(digest: string): LogEvent {
  return { ...STARTED, digest, quorumPercent: 50, deadlineMs: 1000 }
}

function stateOf(events: readonly LogEvent[]) {
  const head = { at: '2026-11-30T00:00:00.000Z', actor: 'ci', address: '::1', controller: 'a' }
  const entries = events.map((event, i): NumberedEntry => ({ id: `${i}`, seq: i + 1, ...head, ...event }))
  return entries.reduce(stateAfter, EMPTY_STATE)
}

function committed(deploy: number): LogEvent {
  return { type: 'deploy.committed', group: 'edge', deploy, missing: ['away'] }
}

function aborted(deploy: number): LogEvent {
  return { type: 'deploy.aborted', group: 'edge', deploy, reasons: ['no'] }
}

test('a committed deploy becomes the head, an aborted one does not', () => {
  const state = stateOf([started('a'), committed(1), started('b'), aborted(3), started('c')])
  const { head, pending, deploys } = groupOf(state, 'edge')
  assert.deepEqual([head?.deploy, head?.missing, pending?.deploy, state.seq], [1, ['away'], 5, 5])
  assert.deepEqual(
    deploys.map(({ status, reasons }) => [status, reasons]),
    [
      ['committed', []],
      ['aborted', ['no']],
      ['pending', []],
    ],
  )
})

test('entries that contradict the state change nothing but the number', () => {
  const before = stateOf([started('a')])
  for (const event of [started('b'), committed(7), aborted(0), { type: 'unknown.event' } as never]) {
    const after = stateOf([started('a'), event])
    assert.deepEqual(after.groups, before.groups)
    assert.equal(after.seq, 2)
  }
  const decided = stateOf([started('a'), aborted(1), committed(1)])
  assert.equal(groupOf(decided, 'edge').head, null)
})

test('a revoked token stays known as revoked', () => {
  const created = {
    type: 'token.created',
    token: 't',
    name: 'n',
    role: 'viewer',
    groups: ['*'],
    sha256: 's',
  } as const
  const { tokens } = stateOf([
    created,
    { type: 'token.revoked', token: 't' },
    { type: 'token.revoked', token: 'x' },
  ])
  assert.deepEqual(
    [...tokens.values()].map(({ name, isRevoked }) => [name, isRevoked]),
    [['n', true]],
  )
})

test('the last committed bundles of a group and its pending one are kept', () => {
  const state = stateOf([
    ...[started('a'), committed(1), started('b'), committed(3)],
    ...[started('c'), committed(5), started('d'), aborted(7), started('e')],
  ])
  assert.deepEqual([...keptBundles(state, 2)].sort(), ['b', 'c', 'e'])
  const composed = stateOf([{ ...STARTED, digest: 'a', source: 's', quorumPercent: 50, deadlineMs: 1000 }])
  assert.deepEqual([...keptBundles(composed, 1)].sort(), ['a', 's'])
})
