import { join } from 'node:path'
import type { OidcOptions } from '@sluice/control'
import { secretInFile } from '../input/secret.js'
import { EXIT, Failure, messageOf, usageError } from '../output/failure.js'
import { outliveReader, print } from '../output/output.js'

interface StartOptions {
  readonly store: string
  readonly listen: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly clientCa?: string
  readonly behindProxy?: boolean
  readonly host?: readonly string[]
  readonly adminTokenFile?: string
  readonly oidcIssuer?: string
  readonly oidcClientId?: string
  readonly oidcClientSecretFile?: string
  readonly oidcScope: string
  readonly oidcClaim: string
  readonly oidcRole?: readonly string[]
  readonly keep: number
  readonly maxMembersPerToken: number
}

const POSTGRES = /^postgres(ql)?:\/\//

/** Runs the controller until it is stopped. Resolves with the exit code. */
export async function startControl(options: StartOptions): Promise<number> {
  const { startController } = await control()
  outliveReader()
  const { host, port } = addressOf(options.listen)
  const { store, behindProxy: isBehindProxy = false, host: hosts = [], keep: keepDeploys } = options
  const { maxMembersPerToken } = options
  const adminTokenFile =
    options.adminTokenFile ?? (POSTGRES.test(store) ? 'control-admin-token' : join(store, 'admin-token'))
  const controller = await startController({
    ...{ store, host, port, isBehindProxy, hosts, adminTokenFile, keepDeploys, maxMembersPerToken },
    ...tlsOf(options),
    ...oidcOf(options),
  }).catch((error: unknown) => {
    throw new Failure(messageOf(error))
  })
  print(`controller on ${controller.url}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await controller.close()
  return EXIT.ok
}

/** Loads the optional package of the controller. */
async function control(): Promise<typeof import('@sluice/control')> {
  try {
    return await import('@sluice/control')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new Failure('the package @sluice/control is not installed: npm install @sluice/control')
  }
}

function tlsOf({ tlsCert, tlsKey, clientCa }: StartOptions) {
  if (tlsCert === undefined && tlsKey === undefined && clientCa === undefined) return {}
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError('--tls-cert and --tls-key belong together, and --client-ca needs both')
  const tls = { certFile: tlsCert, keyFile: tlsKey }
  return { tls: clientCa === undefined ? tls : { ...tls, clientCaFile: clientCa } }
}

function oidcOf(options: StartOptions): { readonly oidc?: OidcOptions } {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcRole: rules } = options
  const { oidcClientSecretFile: file, oidcScope: scope, oidcClaim: claim } = options
  if (issuer === undefined && clientId === undefined && rules === undefined && file === undefined) return {}
  if (issuer === undefined || clientId === undefined || rules === undefined)
    throw usageError('--oidc-issuer, --oidc-client-id and --oidc-role belong together')
  if (!URL.canParse(issuer))
    throw usageError(`'${issuer}' is not a URL; use for example https://login.example.com`)
  const secret =
    file === undefined
      ? process.env['GW_CONTROL_OIDC_CLIENT_SECRET']
      : secretInFile(file, 'client secret file')
  const clientSecret = secret === undefined || secret === '' ? null : secret
  return { oidc: { issuer, clientId, clientSecret, scope, claim, roles: rules.map(roleOf) } }
}

/** Parses `VALUE=ROLE` or `VALUE=ROLE:GROUPS`. The value may contain `=`, as names in LDAP do. */
function roleOf(rule: string): OidcOptions['roles'][number] {
  const [, value, role, groups = '*'] =
    /^(.+)=(viewer|deployer|admin)(?::([A-Za-z0-9*._,-]+))?$/.exec(rule) ?? []
  if (value === undefined)
    throw usageError(`'${rule}' is not a rule; use for example platform=admin or shop=deployer:shop-*`)
  return { value, role: role as 'viewer' | 'deployer' | 'admin', groups: groups.split(',') }
}

function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535)
    throw usageError(`'${text}' is not an address; use for example 127.0.0.1:9910`)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}
