import { parseDuration } from '@sluice/core'
import type { VaultAuthPlan, VaultPlan } from '../plan/plan.js'
import type { Document } from '../schema/document.js'

type VaultDocument = NonNullable<Document['vault']>

/** Returns the plan of the access to Vault. */
export function vaultPlan(vault: VaultDocument): VaultPlan {
  const { address = null, namespace = null, mount, engine, auth, tls, refresh, timeout } = vault
  return {
    ...{ address, namespace, mount, engine },
    auth: auth === undefined ? null : authPlan(auth),
    caFile: tls.caFile ?? null,
    refreshMs: parseDuration(refresh),
    timeoutMs: parseDuration(timeout),
  }
}

function authPlan({
  token,
  tokenFile,
  kubernetes,
  appRole,
}: NonNullable<VaultDocument['auth']>): VaultAuthPlan {
  if (token !== undefined) return { kind: 'token', token }
  if (tokenFile !== undefined) return { kind: 'tokenFile', file: tokenFile }
  if (kubernetes !== undefined) {
    const { role, mount, tokenFile: file } = kubernetes
    return { kind: 'kubernetes', role, mount, file }
  }
  const { roleId, secretId = null, mount } = appRole!
  return { kind: 'appRole', roleId, secretId, mount }
}
