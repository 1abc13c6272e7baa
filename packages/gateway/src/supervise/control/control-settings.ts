import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ControlPlan } from '@sluice/config'
import type { Credentials } from '@sluice/control-client'
import { readTlsFiles } from '@sluice/core'

/** Settings of the connection to a controller, from the command line or the start document. */
export interface ControlSettings extends ControlPlan {
  /** File with the token; read again for each connection. */
  readonly tokenFile?: string
}

/** True if a document may have the key `control`. Loading the document then decides. */
export function mayHaveControl(text: string): boolean {
  return /(^|[\s{,"'])control["']?\s*:/.test(text)
}

/** Reads the credentials from their files. @throws Error if a file cannot be read */
export function credentialsOf({ token, tokenFile, tls }: ControlSettings): Credentials {
  const { ca, cert, key } = readTlsFiles(tls, 'control.tls')
  return {
    token: tokenFile === undefined ? token : readFileSync(tokenFile, 'utf8').trim(),
    ca: ca?.toString() ?? null,
    client: cert === undefined || key === undefined ? null : { cert: String(cert), key: String(key) },
    fingerprints: tls.fingerprints,
  }
}

/** Returns the name of this gateway in the fleet. */
export function memberName({ name }: ControlSettings): string {
  return name ?? hostname()
}
