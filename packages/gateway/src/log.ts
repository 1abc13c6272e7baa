/** For commands that deliver records of the traffic log themselves. */
export { type Shipping, shippingOf } from './worker/open-sink.js'
