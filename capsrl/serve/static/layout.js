// Positions of the words and arcs of one predicate on wrapped lines, as in capsrl.show.layout and
// capsrl.show.arc_levels: arcs are above the words in levels, a line takes as many words as fit, an
// arc to another line leaves at the edge and enters at the edge.

const WORD_GAP = 11;
const SLOT = 8; // between two arcs that end at the same word
const LABEL_GAP = 9; // from the label of an arc to its bend

// wordWidths   of each word and what is below it
// arcs         [{word, width}]: the argument, and the width of the label; all from `predicate`
// -> {width, lines: [{boxes: [{word, x}], segments, nLevels}]}
export function makeLayout(wordWidths, predicate, arcs, maxWidth) {
  let lines = wrap(wordWidths, predicate, arcs, maxWidth);
  let width = fullWidth(lines, predicate, arcs);
  if (width > maxWidth) {
    // Arcs that leave at the right need room past the words, known only after wrapping.
    const again = wrap(wordWidths, predicate, arcs, 2 * maxWidth - width);
    const less = fullWidth(again, predicate, arcs);
    if (less < width) [lines, width] = [again, less];
  }
  const lineOf = linesByWord(lines);
  lines.forEach((line, number) => {
    const here = arcs.filter((arc) =>
      [arc.word, predicate].some((word) => lineOf.get(word) === number),
    );
    line.segments = withLevels(segmentsOf(number, line, here, predicate, lineOf, width));
    line.nLevels = Math.max(0, ...line.segments.map((segment) => segment.level));
    for (const segment of line.segments) freeLabel(segment, line.segments);
  });
  return { width, lines };
}

const room = (arc) => arc.width + 2 * LABEL_GAP;

function linesByWord(lines) {
  return new Map(lines.flatMap((line, number) => line.boxes.map((box) => [box.word, number])));
}

function wrap(wordWidths, predicate, arcs, maxWidth) {
  const nEnds = wordWidths.map((_, word) => arcs.filter((arc) => arc.word === word).length);
  nEnds[predicate] += arcs.length;
  const lines = [{ boxes: [] }];
  wordWidths.forEach((least, word) => {
    let width = Math.max(least, nEnds[word] * SLOT);
    for (const arc of arcs) {
      if (arc.word === word && word === predicate)
        width = Math.max(width, arc.width + nEnds[word] * SLOT);
    }
    const ending = arcs.filter(
      (arc) => Math.max(arc.word, predicate) === word && arc.word !== predicate,
    );
    let line = lines[lines.length - 1];
    let place = placed(line, word, width, ending, predicate, nEnds);
    if (line.boxes.length && place.x + place.indent + width / 2 > maxWidth) {
      line = { boxes: [] };
      lines.push(line);
      place = placed(line, word, width, ending, predicate, nEnds);
    }
    line.boxes.push({ word, x: place.x, width });
    for (const box of line.boxes) box.x += place.indent;
  });
  return lines;
}

// The position of the next word of a line, and how far the whole line must move to the right to make
// room for the labels of arcs that enter from other lines.
function placed(line, word, width, arcs, predicate, nEnds) {
  const last = line.boxes[line.boxes.length - 1];
  let x = width / 2 + (last ? last.x + last.width / 2 + WORD_GAP : 0);
  let before = 0;
  for (const arc of arcs) {
    const other = Math.min(arc.word, predicate);
    const box = line.boxes.find((each) => each.word === other);
    if (box) x = Math.max(x, box.x + room(arc) + (SLOT / 2) * (nEnds[other] + nEnds[word]));
    else before = Math.max(before, room(arc) + (SLOT / 2) * nEnds[word]);
  }
  return { x, indent: Math.max(0, before - x) };
}

function fullWidth(lines, predicate, arcs) {
  const lineOf = linesByWord(lines);
  const boxes = new Map(lines.flatMap((line) => line.boxes.map((box) => [box.word, box])));
  let width = 0;
  for (const box of boxes.values()) width = Math.max(width, box.x + box.width / 2);
  for (const arc of arcs) {
    const [near, far] = [Math.min(arc.word, predicate), Math.max(arc.word, predicate)];
    if (lineOf.get(near) === lineOf.get(far)) continue;
    width = Math.max(width, boxes.get(near).x + boxes.get(near).width / 2 + room(arc));
  }
  return width;
}

function segmentsOf(number, line, arcs, predicate, lineOf, width) {
  const places = slots(line, arcs, predicate);
  return arcs.map((arc, index) => {
    const [first, last] = [Math.min(arc.word, predicate), Math.max(arc.word, predicate)];
    const down = [lineOf.get(first) === number, lineOf.get(last) === number];
    let left = down[0] ? places.get(`${index} right`) : 0;
    let right = down[1] ? places.get(`${index} left`) : width;
    if (first === last) [left, right] = [right, left];
    const side = arc.word === first ? 0 : 1;
    const head = down[side] ? [left, right][side] : null;
    return {
      arc,
      left,
      right,
      down,
      head,
      labelX: (left + right) / 2,
      loop: first === last,
      level: 0,
    };
  });
}

// Where each arc ends at its word. The shortest arc is outermost at each side, so that nested arcs do
// not cross; an arc from a word to itself is between the two sides.
function slots(line, arcs, predicate) {
  const places = new Map();
  for (const box of line.boxes) {
    const ends = [];
    arcs.forEach((arc, index) => {
      const [first, last] = [Math.min(arc.word, predicate), Math.max(arc.word, predicate)];
      const order = first === last ? 0 : 1 / (last - first + index / arcs.length);
      if (first === box.word) ends.push([order, index, "right"]);
      if (last === box.word) ends.push([-order, index, "left"]);
    });
    ends.sort((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : 1));
    ends.forEach(([, index, side], slot) => {
      places.set(`${index} ${side}`, box.x + (slot - (ends.length - 1) / 2) * SLOT);
    });
  }
  return places;
}

function reach({ arc, left, right, labelX }) {
  const half = arc.width / 2 + 2;
  return [Math.min(left, labelX - half), Math.max(right, labelX + half)];
}

// Give each segment the lowest level where it overlaps no other and is above those inside it.
function withLevels(segments) {
  const done = [];
  const ordered = [...segments].sort(
    (a, b) => a.loop - b.loop || a.right - a.left - (b.right - b.left),
  );
  for (const segment of ordered) {
    const [left, right] = reach(segment);
    const others = done.filter((each) => reach(each)[0] < right && left < reach(each)[1]);
    const below = others.filter(
      (each) => segment.loop || (segment.left <= each.left && each.right <= segment.right),
    );
    segment.level = Math.max(0, ...below.map((each) => each.level)) + 1;
    while (others.some((each) => each.level === segment.level)) segment.level += 1;
    done.push(segment);
  }
  return done;
}

// Move the label along its arc until no higher arc crosses it.
function freeLabel(segment, segments) {
  const half = segment.arc.width / 2 + 2;
  const legs = segments
    .filter((other) => other.level > segment.level)
    .flatMap((other) => [other.left, other.right].filter((_, side) => other.down[side]));
  const most = Math.max(0, (segment.right - segment.left) / 2 - half);
  const middle = segment.labelX;
  for (let moved = 0; moved <= most; moved += 2) {
    for (const x of [middle - moved, middle + moved]) {
      if (!legs.some((leg) => Math.abs(leg - x) < half)) {
        segment.labelX = x;
        return;
      }
    }
  }
}
