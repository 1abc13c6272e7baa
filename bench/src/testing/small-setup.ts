import type http from 'node:http'
import type { TestContext } from 'node:test'
import { origin as serve } from '@sluice/cli/testing'
import { FAULT_ORIGIN_BODY, type FaultOrigin } from '../servers/fault-origin.js'
import type { TrialSetup } from '../trial/setup.js'

/** What a small setup counts, and tests may change: the origin has seen as many requests as they say. */
export interface SmallSetup extends TrialSetup {
  /** Requests that the listener got. */
  asked: number
  /** What the origin says it got; absent: as many as the listener. */
  reached?: number
}

const WORKERS = { workers: [{ id: 0, pid: 1, state: 'ready' }] }
const UNASKED = { requests: 0, failed: 0, slow: 0 }
const NO_SERVER = { pid: process.pid, version: '0', stop: async () => {} }

/** Answers as the origin does. */
export function answerWell(response: http.ServerResponse): void {
  response.setHeader('content-length', FAULT_ORIGIN_BODY.length).end(FAULT_ORIGIN_BODY)
}

/** A setup whose gateway is a listener in this process, with an admin API that knows of one worker and takes all documents. */
export async function smallSetup(
  t: TestContext,
  listener: (setup: SmallSetup, request: http.IncomingMessage, response: http.ServerResponse) => void,
): Promise<SmallSetup> {
  const url = await serve(t, (request, response) => {
    setup.asked++
    listener(setup, request, response)
  })
  const admin = await serve(t, (_, response) => void response.end(JSON.stringify(WORKERS)))
  const origin: FaultOrigin = {
    ...{ ...NO_SERVER, name: 'origin', url },
    inject: async () => {},
    counts: async () => ({ requests: setup.reached ?? setup.asked, failed: 0, slow: 0 }),
  }
  const setup: SmallSetup = {
    asked: 0,
    gateway: {
      ...{ ...NO_SERVER, name: 'sluice', url, admin, hasLog: false, digest: '' },
      settled: async () => {},
      deploy: async () => {},
    },
    origin,
    otherOrigin: { ...origin, counts: async () => UNASKED },
    ...{ logNode: null, workers: 1, dataStream: '' },
    rename: () => {},
    close: async () => {},
  }
  return setup
}
