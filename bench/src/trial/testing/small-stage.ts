import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { STEERED_BODY } from '../../contestant/steered-body.js'
import type { SteeredOrigin } from '../../contestant/steered-origin.js'
import type { OpenStage } from '../stage.js'

/** What a small stage counts, and tests may change: the origin has seen as many requests as they say. */
export interface SmallStage extends OpenStage {
  /** Requests that the listener got. */
  asked: number
  /** What the origin says it got; absent: as many as the listener. */
  reached?: number
}

const WORKERS = { workers: [{ pid: 1, state: 'ready' }] }
const UNASKED = { requests: 0, failed: 0, slow: 0 }
const NO_SERVER = { pid: process.pid, version: '0', memory: null, stop: async () => {} }

/** Answers as the origin does. */
export function answerWell(response: http.ServerResponse): void {
  response.setHeader('content-length', STEERED_BODY.length).end(STEERED_BODY)
}

/**
 * A stage whose gateway is a listener in this process, with an admin API that knows of one worker and takes every
 * document.
 */
export async function smallStage(
  t: TestContext,
  listener: (stage: SmallStage, request: http.IncomingMessage, response: http.ServerResponse) => void,
): Promise<SmallStage> {
  const gateway = http.createServer((request, response) => {
    stage.asked++
    listener(stage, request, response)
  })
  const admin = http.createServer((_, response) => void response.end(JSON.stringify(WORKERS)))
  const url = await urlOf(t, gateway)
  const origin: SteeredOrigin = {
    ...{ ...NO_SERVER, name: 'origin', url },
    steer: async () => {},
    counts: async () => ({ requests: stage.reached ?? stage.asked, failed: 0, slow: 0 }),
  }
  const stage: SmallStage = {
    asked: 0,
    gateway: {
      ...{ ...NO_SERVER, name: 'sluice', url, admin: await urlOf(t, admin), hasLog: false },
      document: { sha256: '', plan: null },
      settled: async () => {},
      deploy: async () => {},
    },
    ...{
      origin,
      otherOrigin: { ...origin, counts: async () => UNASKED },
      node: null,
      workers: 1,
      stream: '',
      spoolDir: '',
    },
    signal: new AbortController().signal,
    restartNode: async () => {},
    rename: () => {},
    close: async () => {},
  }
  return stage
}

async function urlOf(t: TestContext, server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
