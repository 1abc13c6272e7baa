import { type ExecFileException, execFile } from 'node:child_process'
import { AccessError, type Credentials, type ExecConfig } from '@sluice/gateway/kubernetes'

const TIMEOUT_MS = 60_000
const MAX_OUTPUT_BYTES = 1024 * 1024
/** Time before expiry at which credentials are renewed, in milliseconds. */
const EARLY_MS = 60_000

/**
 * Returns a function that runs the exec plugin of a kubeconfig user, such as `aws eks get-token`, and caches the
 * credentials until shortly before they expire (client.authentication.k8s.io/v1). The plugin's stderr is not shown.
 */
export function execCredentials(): (config: ExecConfig) => Promise<Credentials> {
  let known: { readonly credentials: Credentials; readonly until: number } | null = null
  return async (config) => {
    if (known !== null && Date.now() < known.until) return known.credentials
    known = readCredential(config, await run(config))
    return known.credentials
  }
}

function run({ apiVersion, command, args, env }: ExecConfig): Promise<string> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } }
  const options = {
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  }
  return new Promise((resolve, reject) => {
    execFile(command, [...args], options, (error, stdout) => {
      // The output may contain a token and is left out.
      if (error !== null)
        reject(new AccessError(`the exec plugin ${command} of the kubeconfig failed (${reasonOf(error)})`))
      else resolve(stdout)
    })
  })
}

function reasonOf({ code, killed }: ExecFileException): string {
  if (killed === true) return `timeout after ${TIMEOUT_MS / 1000} s`
  return typeof code === 'number' ? `exit ${code}` : String(code)
}

function readCredential({ command }: ExecConfig, text: string) {
  let status: Readonly<Record<string, unknown>> | undefined
  try {
    status = (JSON.parse(text) as { readonly status?: Readonly<Record<string, unknown>> }).status
  } catch {
    status = undefined
  }
  const textOf = (name: string): string | undefined => {
    const value = status?.[name]
    return typeof value === 'string' ? value : undefined
  }
  const [token, cert, key] = [textOf('token'), textOf('clientCertificateData'), textOf('clientKeyData')]
  if (token === undefined && (cert === undefined || key === undefined))
    throw new AccessError(`the exec plugin ${command} of the kubeconfig did not print an ExecCredential`)
  const ends = Date.parse(textOf('expirationTimestamp') ?? '')
  return {
    credentials: {
      ...(token === undefined ? {} : { token }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    },
    until: Number.isNaN(ends) ? Number.POSITIVE_INFINITY : ends - EARLY_MS,
  }
}
