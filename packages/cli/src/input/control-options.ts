import { isIssue, parseControlUrl } from '@sluice/config/serving'
import type { ControlSettings } from '@sluice/gateway/start'
import { usageError } from '../output/failure.js'
import { type ControlOptions, hasController } from './options.js'
import { secretInFile } from './secret.js'

/** Returns the settings in the options and the environment, or null without a controller. @throws Failure if they are invalid */
export function controlSettings(options: ControlOptions): ControlSettings | null {
  if (!hasController(options)) return null
  const urls = (options.control ?? listOf('GW_CONTROL')).map(controllerUrl)
  const group = options.group ?? environment('GW_CONTROL_GROUP')
  if (group === undefined) throw usageError('--control needs a group: set --group or GW_CONTROL_GROUP')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(group))
    throw usageError(`--group: '${group}' is not a name; use letters, digits, dots, hyphens and underscores`)
  const certFile = options.controlCert ?? environment('GW_CONTROL_CERT') ?? null
  const keyFile = options.controlKey ?? environment('GW_CONTROL_KEY') ?? null
  if ((certFile === null) !== (keyFile === null))
    throw usageError('a client certificate needs both --control-cert and --control-key')
  const fingerprints = (options.controlFingerprint ?? listOf('GW_CONTROL_FINGERPRINT')).map(plainFingerprint)
  const tokenFile = options.controlTokenFile ?? environment('GW_CONTROL_TOKEN_FILE')
  if (tokenFile !== undefined) secretInFile(tokenFile, 'token file')
  return {
    urls,
    group,
    name: options.controlName ?? environment('GW_CONTROL_NAME') ?? null,
    token: environment('GW_CONTROL_TOKEN') ?? null,
    ...(tokenFile === undefined ? {} : { tokenFile }),
    tls: {
      caFile: options.controlCa ?? environment('GW_CONTROL_CA') ?? null,
      certFile,
      keyFile,
      fingerprints,
    },
  }
}

function controllerUrl(text: string): string {
  const url = parseControlUrl(text)
  if (isIssue(url)) throw usageError(`--control: '${text}': ${url.message}; ${url.remedy}`)
  return url.origin
}

function plainFingerprint(text: string): string {
  const plain = text.replaceAll(':', '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(plain)) return plain
  throw usageError(`--control-fingerprint: '${text}' is not a SHA-256 fingerprint of 64 hexadecimal digits`)
}

function listOf(name: string): string[] {
  return (environment(name) ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Returns a variable of the environment. An empty one counts as absent. */
function environment(name: string): string | undefined {
  return process.env[name] || undefined
}
