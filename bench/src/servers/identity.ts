import { createPublicKey } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { hasSlapd, person, Slapd } from '@sluice/policies/testing/slapd'
import type { Scenario } from '../model/scenario.js'
import { reapAtExit, release } from '../process/process-reaper.js'
import { API_KEY, DIRECTORY, NAME, PASSWORD, TOKEN_SERVER, VERIFYING_KEY } from '../suite/policy-keys.js'
import { serveJson } from './json-server.js'

type Routes = Scenario['routes']

const PUBLIC_KEY = { ...createPublicKey(VERIFYING_KEY).export({ format: 'jwk' }), kid: 'bench', use: 'sig' }

/** Servers that policies of routes call. */
export interface Identity {
  /** The routes with the addresses of these servers. */
  readonly routes: Routes
  stop(): Promise<void>
}

/** Returns the remedy if slapd is not installed, or null. */
export function missingSlapd(): string | null {
  return hasSlapd ? null : 'slapd is not installed; install the package slapd'
}

/** True if policies of the routes use a directory. */
export function asksDirectory(routes: Routes): boolean {
  return JSON.stringify(routes).includes(DIRECTORY)
}

/** Starts the directory and the token server for the routes. @param dir folder for the directory's files */
export async function startIdentity(routes: Routes, dir: string): Promise<Identity> {
  const text = JSON.stringify(routes)
  const directory = asksDirectory(routes) ? await startDirectory(dir) : null
  // Started last, because it would remain running if the directory failed. It can use any port.
  const tokens = text.includes(TOKEN_SERVER) ? await serveJson(answerAboutTokens, '127.0.0.1:0') : null
  return {
    routes: JSON.parse(
      text
        .replaceAll(TOKEN_SERVER, tokens?.url ?? TOKEN_SERVER)
        .replaceAll(DIRECTORY, directory?.url ?? DIRECTORY),
    ),
    async stop() {
      await tokens?.stop()
      await directory?.stop()
    },
  }
}

async function startDirectory(dir: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const slapd = await Slapd.start([person(NAME, PASSWORD)], [], dir)
  reapAtExit(slapd.pid)
  return { url: slapd.url, stop: () => slapd.stop().then(() => release(slapd.pid)) }
}

/** Responds to GET with a key set (RFC 7517), otherwise with the state of a token (RFC 7662). */
async function answerAboutTokens(request: IncomingMessage): Promise<string> {
  const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
  if (request.method === 'GET') return JSON.stringify({ keys: [PUBLIC_KEY] })
  return JSON.stringify(form.get('token') === API_KEY ? { active: true, sub: NAME } : { active: false })
}
