// Hilbert curve over the sphere. Points that are close on the curve are close on the ground, so a sorted list of positions
// divides the world into compact regions. The sphere is projected onto a cube; each face has its own curve.

const BITS = 23;
const SIDE = 2 ** BITS;
const CELLS_PER_FACE = SIDE * SIDE;

/** Position of a unit vector on the curve: an integer below 6 · 2^46, so exact in a double. */
export function curvePosition(x: number, y: number, z: number): number {
  const ax = Math.abs(x);
  const ay = Math.abs(y);
  const az = Math.abs(z);
  if (az >= ax && az >= ay) return onFace(z > 0 ? 0 : 5, x / az, y / az);
  if (ax >= ay) return onFace(x > 0 ? 1 : 3, y / ax, z / ax);
  return onFace(y > 0 ? 2 : 4, x / ay, z / ay);
}

function onFace(face: number, u: number, v: number): number {
  let x = Math.min(SIDE - 1, Math.floor(((u + 1) / 2) * SIDE));
  let y = Math.min(SIDE - 1, Math.floor(((v + 1) / 2) * SIDE));
  let position = 0;
  for (let bit = SIDE >>> 1; bit > 0; bit >>>= 1) {
    const right = (x & bit) > 0 ? 1 : 0;
    const top = (y & bit) > 0 ? 1 : 0;
    position = position * 4 + ((3 * right) ^ top);
    if (top === 0) {
      if (right === 1) {
        x = bit - 1 - (x & (bit - 1));
        y = bit - 1 - (y & (bit - 1));
      }
      const swap = x;
      x = y;
      y = swap;
    }
  }
  return face * CELLS_PER_FACE + position;
}
