import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockout } from './lockout.js'

function lockout() {
  const clock = { ms: 0 }
  return { clock, lockout: new Lockout(() => clock.ms) }
}

test('the eleventh wrong token within a minute locks the peer out until the minute ends', () => {
  const { lockout: door, clock } = lockout()
  for (let i = 0; i < 10; i++) door.wrong('10.0.0.1')
  assert.equal(door.secondsLeft('10.0.0.1'), 0)
  door.wrong('10.0.0.1')
  clock.ms = 20_000
  assert.equal(door.secondsLeft('10.0.0.1'), 40)
  assert.equal(door.secondsLeft('10.0.0.2'), 0)
  clock.ms = 60_000
  assert.equal(door.secondsLeft('10.0.0.1'), 0)
})

test('many addresses do not grow the memory, and the oldest is forgotten first', () => {
  const { lockout: door } = lockout()
  for (let i = 0; i < 11; i++) door.wrong('first')
  for (let i = 0; i < 11; i++) door.wrong('second')
  for (let i = 0; i < 4095; i++) door.wrong(`peer ${i}`)
  assert.equal(door.secondsLeft('first'), 0)
  assert.equal(door.secondsLeft('second'), 60)
})
