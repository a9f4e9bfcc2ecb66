/**
 * Who comes when: indices of `count` contenders, in another order each round. What ran before leaves the disk, and what a virtual
 * machine may use of its processors, in a state of its own, so nobody may always come after the same one. In as many rounds as there
 * are contenders each comes once after each other (of an odd number: after most), as in a Williams design.
 */
export function orderOf(count: number, round: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => {
    const offset = place % 2 === 0 ? count - place / 2 : (place + 1) / 2;
    return (offset + round) % count;
  });
}
