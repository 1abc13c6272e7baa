/**
 * The version of what plugins see of a gateway: Policy, Step, CompileEnv, Exchange, Reply. A part that is added raises the
 * second number, one that is taken away or changed the first.
 */
export const CONTRACT_VERSION = '1.6.0'
