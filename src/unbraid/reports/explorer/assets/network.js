// The forward pass of an encoder or a decoder, from the list of layers that
// _network_description.py writes.
//
// Feature maps have channels last, (row, column, channel), so that both kinds of convolution
// become one matrix product over contiguous rows, which takes most of the time. Numbers are
// doubles, which engines compute with natively.

/** Return the half-precision number with the given bits. */
function readHalf(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  // An exponent of 0 marks a subnormal number, without the implied leading one.
  const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction / 2 ** 24;
  return bits & 0x8000 ? -size : size;
}

// A table of all half-precision numbers is smaller than the weights of a network.
const HALVES = Float64Array.from({ length: 65536 }, (_, bits) => readHalf(bits));

/** Convert half-precision floats (little-endian bytes) to doubles. */
function readHalves(bytes, scale) {
  const numbers = new Float64Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i += 1) {
    numbers[i] = HALVES[bytes[2 * i] | (bytes[2 * i + 1] << 8)] * scale;
  }
  return numbers;
}

/** Convert single-precision floats (little-endian bytes) to doubles. */
function readSingles(bytes) {
  const view = new DataView(bytes.buffer);
  const numbers = new Float64Array(bytes.length / 4);
  for (let i = 0; i < numbers.length; i += 1) numbers[i] = view.getFloat32(4 * i, true);
  return numbers;
}

function readBytes(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

function readTensor(tensor) {
  const bytes = readBytes(tensor.bytes);
  return tensor.type === "float16" ? readHalves(bytes, tensor.scale) : readSingles(bytes);
}

/**
 * Multiply every row of `left` by every row of `right`: out[i, j] = sum over k of
 * left[i, k] * right[j, k].
 */
function multiplyRows(left, nLeft, right, nRight, length, out) {
  const nLeftInFours = nLeft - (nLeft % 4);
  const nRightInFours = nRight - (nRight % 4);
  for (let i = 0; i < nLeftInFours; i += 4) {
    for (let j = 0; j < nRightInFours; j += 4) {
      multiplyFourByFour(left, i * length, right, j * length, length, out, i * nRight + j, nRight);
    }
  }
  for (let i = 0; i < nLeft; i += 1) {
    for (let j = i < nLeftInFours ? nRightInFours : 0; j < nRight; j += 1) {
      let sum = 0;
      for (let k = 0; k < length; k += 1) sum += left[i * length + k] * right[j * length + k];
      out[i * nRight + j] = sum;
    }
  }
}

// Unrolled, so that sixteen sums stay in registers for eight numbers loaded. With eight sums,
// a product takes 1.3 to 1.7 times as long.
function multiplyFourByFour(left, l0, right, r0, length, out, o0, step) {
  const l1 = l0 + length, l2 = l1 + length, l3 = l2 + length;
  const r1 = r0 + length, r2 = r1 + length, r3 = r2 + length;
  let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
  let c0 = 0, c1 = 0, c2 = 0, c3 = 0, d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  for (let k = 0; k < length; k += 1) {
    const a = left[l0 + k], b = left[l1 + k], c = left[l2 + k], d = left[l3 + k];
    let w = right[r0 + k];
    a0 += a * w; b0 += b * w; c0 += c * w; d0 += d * w;
    w = right[r1 + k];
    a1 += a * w; b1 += b * w; c1 += c * w; d1 += d * w;
    w = right[r2 + k];
    a2 += a * w; b2 += b * w; c2 += c * w; d2 += d * w;
    w = right[r3 + k];
    a3 += a * w; b3 += b * w; c3 += c * w; d3 += d * w;
  }
  const o1 = o0 + step, o2 = o1 + step, o3 = o2 + step;
  out[o0] = a0; out[o0 + 1] = a1; out[o0 + 2] = a2; out[o0 + 3] = a3;
  out[o1] = b0; out[o1 + 1] = b1; out[o1 + 2] = b2; out[o1 + 3] = b3;
  out[o2] = c0; out[o2 + 1] = c1; out[o2 + 2] = c2; out[o2 + 3] = c3;
  out[o3] = d0; out[o3 + 1] = d1; out[o3 + 2] = d2; out[o3 + 3] = d3;
}

function addBias(numbers, bias) {
  if (!bias) return;
  const width = bias.length;
  for (let start = 0; start < numbers.length; start += width) {
    for (let j = 0; j < width; j += 1) numbers[start + j] += bias[j];
  }
}

/**
 * Reorder the weights of a convolution from the axis order of torch.
 *
 * Axes are a and b (input and output channels, depending on the kind), y and x.
 */
function reorder(weight, [nA, nB, height, width], order) {
  const sizes = { a: nA, b: nB, y: height, x: width };
  const strides = { a: nB * height * width, b: height * width, y: width, x: 1 };
  const out = new Float64Array(weight.length);
  let at = 0;
  const [p, q, r, s] = order;
  for (let i = 0; i < sizes[p]; i += 1) {
    for (let j = 0; j < sizes[q]; j += 1) {
      for (let k = 0; k < sizes[r]; k += 1) {
        for (let l = 0; l < sizes[s]; l += 1) {
          out[at] = weight[i * strides[p] + j * strides[q] + k * strides[r] + l * strides[s]];
          at += 1;
        }
      }
    }
  }
  return out;
}

// Each function takes a layer and its input shape, and returns the output shape and `run`,
// the forward pass. Shapes are [n], [lines, n] or [channels, height, width], as in torch.
const LAYERS = {
  dense(layer, shape) {
    const weight = readTensor(layer.weight);
    const bias = layer.bias && readTensor(layer.bias);
    const [nOutputs, nInputs] = layer.shape;
    const nLines = shape.length === 2 ? shape[0] : 1;
    const out = new Float64Array(nLines * nOutputs);
    const run = (numbers) => {
      multiplyRows(numbers, nLines, weight, nOutputs, nInputs, out);
      addBias(out, bias);
      return out;
    };
    return { shape: [...shape.slice(0, -1), nOutputs], run };
  },

  // Pixels are weighted sums of products of the features of their row and their column.
  product(layer, shape) {
    const rows = buildLines(layer.rows, shape);
    const columns = buildLines(layer.columns, shape);
    const weight = readTensor(layer.channels.weight);
    const bias = readTensor(layer.channels.bias);
    const [nChannels, rank] = layer.channels.shape;
    const [height, width] = [rows.nLines, columns.nLines];
    const products = new Float64Array(width * rank);
    const out = new Float64Array(height * width * nChannels);
    const run = (code) => {
      const down = rows.run(code);
      const across = columns.run(code);
      for (let y = 0; y < height; y += 1) {
        for (let i = 0; i < products.length; i += 1) {
          products[i] = across[i] * down[y * rank + (i % rank)];
        }
        const start = y * width * nChannels;
        multiplyRows(products, width, weight, nChannels, rank, out.subarray(start));
      }
      addBias(out, bias);
      return out;
    };
    return { shape: [nChannels, height, width], run };
  },

  convolution(layer, [nInputs, height, width]) {
    const [nOutputs, , tall, wide] = layer.shape;
    const weight = reorder(readTensor(layer.weight), layer.shape, "ayxb");
    const bias = layer.bias && readTensor(layer.bias);
    const [down, across] = layer.stride;
    const [top, left] = layer.padding;
    const outHeight = Math.floor((height + 2 * top - tall) / down) + 1;
    const outWidth = Math.floor((width + 2 * left - wide) / across) + 1;
    const length = tall * wide * nInputs;
    const patches = new Float64Array(outWidth * length);
    const out = new Float64Array(outHeight * outWidth * nOutputs);
    const gather = (maps, y) => {
      for (let x = 0; x < outWidth; x += 1) {
        let at = x * length;
        for (let dy = 0; dy < tall; dy += 1) {
          for (let dx = 0; dx < wide; dx += 1, at += nInputs) {
            const row = y * down + dy - top;
            const column = x * across + dx - left;
            const isInside = row >= 0 && row < height && column >= 0 && column < width;
            const from = (row * width + column) * nInputs;
            for (let c = 0; c < nInputs; c += 1) patches[at + c] = isInside ? maps[from + c] : 0;
          }
        }
      }
    };
    // Row by row, so that the patches stay in the CPU cache.
    const run = (maps) => {
      for (let y = 0; y < outHeight; y += 1) {
        const start = y * outWidth * nOutputs;
        gather(maps, y);
        multiplyRows(patches, outWidth, weight, nOutputs, length, out.subarray(start));
      }
      addBias(out, bias);
      return out;
    };
    return { shape: [nOutputs, outHeight, outWidth], run };
  },

  transposed_convolution(layer, [nInputs, height, width]) {
    const [, nOutputs, tall, wide] = layer.shape;
    const weight = reorder(readTensor(layer.weight), layer.shape, "yxba");
    const bias = layer.bias && readTensor(layer.bias);
    const [down, across] = layer.stride;
    const [top, left] = layer.padding;
    const outHeight = (height - 1) * down - 2 * top + tall;
    const outWidth = (width - 1) * across - 2 * left + wide;
    const length = tall * wide * nOutputs;
    const patches = new Float64Array(width * length);
    const out = new Float64Array(outHeight * outWidth * nOutputs);
    const scatter = (y) => {
      for (let x = 0; x < width; x += 1) {
        let at = x * length;
        for (let dy = 0; dy < tall; dy += 1) {
          for (let dx = 0; dx < wide; dx += 1, at += nOutputs) {
            const row = y * down + dy - top;
            const column = x * across + dx - left;
            if (row < 0 || row >= outHeight || column < 0 || column >= outWidth) continue;
            const to = (row * outWidth + column) * nOutputs;
            for (let c = 0; c < nOutputs; c += 1) out[to + c] += patches[at + c];
          }
        }
      }
    };
    const run = (maps) => {
      out.fill(0);
      for (let y = 0; y < height; y += 1) {
        const row = maps.subarray(y * width * nInputs);
        multiplyRows(row, width, weight, length, nInputs, patches);
        scatter(y);
      }
      addBias(out, bias);
      return out;
    };
    return { shape: [nOutputs, outHeight, outWidth], run };
  },

  leaky_relu(layer, shape) {
    const { slope } = layer;
    const run = (numbers) => {
      for (let i = 0; i < numbers.length; i += 1) {
        if (numbers[i] < 0) numbers[i] *= slope;
      }
      return numbers;
    };
    return { shape, run };
  },

  flatten(layer, shape) {
    if (shape.length === 1) return { shape, run: (numbers) => numbers };
    const out = new Float64Array(shape.reduce((product, size) => product * size, 1));
    return { shape: [out.length], run: (maps) => channelsFirst(maps, shape, out) };
  },

  unflatten(layer) {
    const out = new Float64Array(layer.shape.reduce((product, size) => product * size, 1));
    return { shape: layer.shape, run: (numbers) => channelsLast(numbers, layer.shape, out) };
  },

  // Repeats the last row or column if their number is odd.
  even_sides(layer, [nChannels, height, width]) {
    const shape = [nChannels, height + (height % 2), width + (width % 2)];
    return { shape, run: (maps) => partOf(maps, [nChannels, height, width], shape, 0, 0) };
  },

  cut(layer, [nChannels, height, width]) {
    const shape = [nChannels, ...layer.sides];
    const top = Math.floor((height - shape[1]) / 2);
    const left = Math.floor((width - shape[2]) / 2);
    return { shape, run: (maps) => partOf(maps, [nChannels, height, width], shape, top, left) };
  },
};

/** Build the network that computes the features of all rows or columns from a code. */
function buildLines({ code, shape, offsets: tensor, layers }, codeShape) {
  const first = LAYERS.dense(code, codeShape);
  const offsets = readTensor(tensor);
  const [nLines, width] = shape;
  const rest = buildNetwork(layers, [nLines, width]);
  const run = (numbers) => {
    const own = first.run(numbers);
    return rest(offsets.map((offset, i) => offset + own[i % width]));
  };
  return { nLines, run };
}

/** Crop maps from the top left; beyond the last row or column, repeat it. */
function partOf(maps, [nChannels, height, width], [, outHeight, outWidth], top, left) {
  if (outHeight === height && outWidth === width) return maps;
  const out = new Float64Array(outHeight * outWidth * nChannels);
  for (let y = 0; y < outHeight; y += 1) {
    for (let x = 0; x < outWidth; x += 1) {
      const row = Math.min(y + top, height - 1);
      const column = Math.min(x + left, width - 1);
      const from = (row * width + column) * nChannels;
      const to = (y * outWidth + x) * nChannels;
      for (let c = 0; c < nChannels; c += 1) out[to + c] = maps[from + c];
    }
  }
  return out;
}

function channelsFirst(maps, [nChannels, height, width], out) {
  const area = height * width;
  for (let c = 0; c < nChannels; c += 1) {
    for (let i = 0; i < area; i += 1) out[c * area + i] = maps[i * nChannels + c];
  }
  return out;
}

function channelsLast(numbers, [nChannels, height, width], out) {
  const area = height * width;
  for (let c = 0; c < nChannels; c += 1) {
    for (let i = 0; i < area; i += 1) out[i * nChannels + c] = numbers[c * area + i];
  }
  return out;
}

/** Build the forward pass. The next call overwrites the returned array. */
function buildNetwork(layers, inputShape) {
  let shape = inputShape;
  const steps = layers.map((layer) => {
    const built = LAYERS[layer.kind](layer, shape);
    shape = built.shape;
    return built.run;
  });
  // A copy, because activations work in place.
  return (numbers) => steps.reduce((values, run) => run(values), new Float64Array(numbers));
}

/**
 * Build a model that encodes images and decodes codes.
 *
 * Images are numbers from 0 to 1, (row, column, channel); codes have one number per latent.
 */
function buildModel(description, imageShape) {
  const { n_latents: nLatents, mean, std } = description;
  const nChannels = imageShape[0];
  const isStandardising = mean.some((value) => value !== 0) || std.some((value) => value !== 1);
  const encodeNumbers = buildNetwork(description.encoder, imageShape);
  const decodeNumbers = buildNetwork(description.decoder, [nLatents]);

  function encode(picture) {
    const seen = new Float64Array(picture);
    changeChannels(seen, (value, c) => (value - mean[c]) / std[c]);
    // The means come first, followed by the log-variances, if any.
    return encodeNumbers(seen).slice(0, nLatents);
  }

  function decode(code) {
    const picture = decodeNumbers(code).slice();
    if (description.output === "sigmoid") {
      for (let i = 0; i < picture.length; i += 1) picture[i] = 1 / (1 + Math.exp(-picture[i]));
    }
    changeChannels(picture, (value, c) => value * std[c] + mean[c]);
    return picture;
  }

  function changeChannels(picture, change) {
    if (!isStandardising) return;
    for (let i = 0; i < picture.length; i += 1) picture[i] = change(picture[i], i % nChannels);
  }

  return { encode, decode };
}
