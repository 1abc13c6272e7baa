import assert from 'node:assert/strict'
import { statusOf } from '../testing.js'

/** A gateway with the address of its admin API. */
export interface Member {
  readonly admin: string
}

/** Returns the digest of the prepared document, or null if the gateway rejects it. */
async function prepare({ admin }: Member, text: string): Promise<string | null> {
  const headers = { 'content-type': 'application/yaml' }
  const answer = await fetch(`${admin}/v1/config?hold=30s`, { method: 'PUT', headers, body: text })
  const { digest } = (await answer.json()) as { digest: string }
  return answer.status === 200 ? digest : null
}

async function settle({ admin }: Member, digest: string, verb: 'activate' | 'discard'): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ digest })
  const answer = await fetch(`${admin}/v1/config/${verb}`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200, await answer.text())
}

/** Deploys a document to all members or to none. Returns the number of members that accept it. */
export async function deployTo(members: readonly Member[], text: string): Promise<number> {
  const digests = await Promise.all(members.map((member) => prepare(member, text)))
  const able = digests.filter((digest) => digest !== null).length
  const verb = able === members.length ? 'activate' : 'discard'
  await Promise.all(
    members.map(async (member, i) => digests[i] !== null && settle(member, digests[i]!, verb)),
  )
  return able
}

/** Returns the active digest of each member. */
export function digestsOf(members: readonly Member[]): Promise<string[]> {
  return Promise.all(members.map(async ({ admin }) => (await statusOf(admin)).digest))
}
