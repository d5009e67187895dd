// The lattice of feature sets: scores by size, subgroup and the rank of a set among those of its size.

function bytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function floats(base64) {
  const view = new DataView(bytes(base64).buffer);
  return Float32Array.from({ length: view.byteLength / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

function binomial(n, k) {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

class Lattice {
  constructor(data) {
    this.features = data.features;
    this.support = data.support;
    this.levels = new Map();
    for (const level of data.lattice.levels) {
      this.levels.set(level.size, {
        count: binomial(data.features.length, level.size),
        score: floats(level.score),
        low: floats(level.low),
        high: floats(level.high),
        predicted: bytes(level.predicted),
        support: bytes(level.support),
      });
    }
    this.largest = Math.max(0, ...this.levels.keys());
  }

  /** The number of a set, members ascending, among the sets of its size. */
  rank(set) {
    return set.reduce((sum, member, i) => sum + binomial(member, i + 1), 0);
  }

  /** What is known of a set in a subgroup. */
  at(subgroup, set) {
    const level = this.levels.get(set.length);
    if (!level) return null;
    const place = subgroup * level.count + this.rank(set);
    const predicted = level.predicted[place] === 1;
    const words = predicted ? this.support.predicted : this.support.recorded;
    return {
      set,
      score: level.score[place],
      low: level.low[place],
      high: level.high[place],
      predicted,
      support: words[level.support[place]],
    };
  }

  /** One more than the number of sets of the same size that score higher in the subgroup, of all and of the recorded ones. */
  standing(subgroup, set) {
    const level = this.levels.get(set.length);
    const own = this.at(subgroup, set).score;
    const start = subgroup * level.count;
    const found = { place: 1, of: level.count, recordedPlace: 1, recordedOf: 0 };
    for (let i = start; i < start + level.count; i++) {
      const recorded = level.predicted[i] !== 1;
      found.recordedOf += recorded;
      if (level.score[i] <= own) continue;
      found.place += 1;
      found.recordedPlace += recorded;
    }
    return found;
  }

  without(set) {
    return set.length < 2 ? [] : set.map((member) => set.filter((other) => other !== member));
  }

  withOneMore(set) {
    if (!this.levels.has(set.length + 1)) return [];
    const more = [];
    for (let feature = 0; feature < this.features.length; feature++) {
      if (!set.includes(feature)) more.push([...set, feature].sort((a, b) => a - b));
    }
    return more;
  }

  /** The part of a set that tells most, among those that are held; in a population it tells no more. */
  leastOf(subgroup, set) {
    let best = null;
    const parts = (chosen, from) => {
      if (chosen.length === this.largest) {
        const found = this.at(subgroup, chosen);
        if (found && (!best || found.score > best.score)) best = found;
        return;
      }
      for (let i = from; i < set.length; i++) parts([...chosen, set[i]], i + 1);
    };
    if (this.largest && set.length > this.largest) parts([], 0);
    return best;
  }
}
