import http from 'node:http'
import https from 'node:https'
import type { TrialRequest, TrialResponse } from '@sluice/gateway/trial'
import { requestOf } from './case-request.js'
import type { CaseContext } from './case-runner.js'
import { responseMismatches } from './expectations.js'
import { type CaseFailure, type CaseOutcome, type FiledCase, stepTitle } from './outcome.js'

const TIMEOUT_MS = 30_000
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Expectations that need the gateway in this process. */
const LOCAL = ['route', 'policies', 'upstream', 'calls', 'record'] as const

/** Runs a case against a running gateway. Only responses are checked. */
export async function runRemotely(one: FiledCase, context: CaseContext, url: URL): Promise<CaseOutcome> {
  const { file, line, name } = one
  const sinceMono = performance.now()
  const outcome = (failures: readonly CaseFailure[], skipped: string): CaseOutcome => {
    const status = failures.length > 0 ? 'failed' : skipped.startsWith('needs') ? 'skipped' : 'passed'
    return { file, line, name, status, ms: performance.now() - sinceMono, failures, skipped }
  }
  const needs = localNeedOf(one, context)
  if (needs !== null) return outcome([], `needs ${needs}, which is not available with --url`)
  const unchecked = new Set<string>()
  for (const [i, step] of one.steps.entries()) {
    const { expect = {} } = step
    for (const key of LOCAL) if (expect[key] !== undefined) unchecked.add(key)
    const request = requestOf(step, context.defaults?.headers, () => [])
    for (let round = 0; round < (step.repeat ?? 1); round++) {
      const response = await send(request, url)
      const found = [
        ...(expect.response === undefined ? [] : responseMismatches(expect.response, response)),
        ...(expect.snapshot === true
          ? context.snapshots.check(`${name} > ${stepTitle(one, i, round)}`, response)
          : []),
      ]
      if (found.length > 0)
        return outcome([{ step: stepTitle(one, i, round), mismatches: found, notes: [] }], '')
    }
  }
  return outcome([], unchecked.size === 0 ? '' : `not checked with --url: ${[...unchecked].join(', ')}`)
}

/** Returns the feature of a case that only `gw test` without `--url` has, or null. */
function localNeedOf({ at, steps, upstreams, calls }: FiledCase, { defaults }: CaseContext): string | null {
  if (at !== undefined || defaults?.at !== undefined || steps.some(({ advance }) => advance !== undefined))
    return 'the fake clock'
  const given = [{ upstreams, calls }, ...steps]
  if (given.some((part) => part.upstreams !== undefined || part.calls !== undefined)) return 'fake servers'
  const hasClient = steps.some(
    ({ request }) =>
      typeof request === 'object' &&
      (request.clientIp ?? request.consumer ?? request.clientCertificate) !== undefined,
  )
  return hasClient ? 'an assumed client' : null
}

/** Sends a request to the gateway, with the host of an absolute URL in its Host field. Never rejects. */
function send({ method, url, headers, body }: TrialRequest, gateway: URL): Promise<TrialResponse> {
  return new Promise((resolve) => {
    const [, host, path = '/'] = /^(?:https?:\/\/([^/?#]+))?(.*)$/.exec(url) ?? []
    const chunks: Buffer[] = []
    let bytes = 0
    const fields: Record<string, string | string[]> = { host: host ?? gateway.host }
    for (const [name, value] of headers)
      fields[name] = name === 'host' ? value : [...[fields[name] ?? []].flat(), value]
    const fail = (error: Error): void =>
      resolve({ status: 0, headers: [], body: Buffer.alloc(0), error: error.message })
    const { request } = gateway.protocol === 'https:' ? https : http
    try {
      const sent = request(
        gateway,
        { method, path: path.startsWith('/') ? path : `/${path}`, headers: fields },
        (response) => {
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes > MAX_BODY_BYTES) response.destroy(new Error('the response is larger than 64 MB'))
            else chunks.push(chunk)
          })
          response.once('error', fail)
          response.once('end', () => {
            const { statusCode = 0, rawHeaders } = response
            resolve({ status: statusCode, headers: rawHeaders, body: Buffer.concat(chunks), error: null })
          })
        },
      )
      sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} s`)))
      sent.once('error', fail)
      sent.end(body)
    } catch (error) {
      fail(error as Error)
    }
  })
}
