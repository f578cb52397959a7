-- needs: css/ground.sql, lattice/trace.sql, positions/place.sql, positions/state.sql, rulings/step.sql
-- Line of sight in css (Guam): 6.2.1, 6.2.2, 6.3, 7.1, 8.7.2, 8.7.3, 8.8.1, 17.0, 22.3.1.
--
-- `css._obstacle` judges a hex and `css._side_stops` a hexside. `css.los` asks them for the cells
-- of one line and tells the rules that speak. `css.fan` (fan.sql) asks `css._obstacle` for kinds of
-- ground instead, and compares walls with lines as sets. What a hex is to a line is a number whose
-- bits have names: `css._bit` (ground.sql).
--
-- Ties. Along a side both hexes are met: terrain, height and markers stop the line only
-- where both sides would (7.1.1 b); a blocking hexside that the line runs along always
-- does (7.1.2 d). Along the rim the one hex that is on the map decides. A hex met in a
-- corner point is not passed, and a hexside met at its end is crossed only if the line
-- goes from one of its hexes into the other there (6.2.2: a feature fills its whole
-- side); css-62 reads it otherwise. Such a line says so in a `graze` row.

create or replace function css._visibility(conditions jsonb, lit boolean)
returns integer
language sql immutable parallel safe
return case
  when conditions ->> 'time' = 'night' and not coalesce(lit, false) then 1
  when conditions ->> 'weather' = 'rain' then 3
  else 8
end;

comment on function css._visibility(jsonb, boolean) is
'How far is seen (7.1.2, 17.0); an illuminated hex is seen as by day (8.7.3).';

create or replace function css._hexes(n integer)
returns text
language sql immutable parallel safe
-- n as text: what else is || is not immutable, and would keep it from being inlined
return case n when 1 then 'one hex' else n::text || ' hexes' end;

comment on function css._hexes(integer) is
'So many hexes, in words.';

create or replace function css._visibility_rule(conditions jsonb)
returns text
language sql immutable parallel safe
return case when conditions ->> 'time' = 'night' then '17.0' else '7.1.2' end;

comment on function css._visibility_rule(jsonb) is
'The rule that says how far is seen now, but for lit hexes.';

create or replace function css._spot(q integer, r integer)
returns bigint
language sql immutable parallel safe
return (q::bigint << 32) + r;

comment on function css._spot(integer, integer) is
'A hex as one number, to be looked for in a list of hexes.';

drop type if exists css.marked_hexes cascade;
create type css.marked_hexes as (
  barraged bigint array,
  bombarded bigint array,
  burning bigint array,
  burnt bigint array,
  lit bigint array
);

comment on type css.marked_hexes is
'Hexes whose markers bear on sight, each as css._spot: barrages and bombardments, fires, burnt ground, illumination.';

create or replace function css._marked(position_id bigint)
returns setof css.marked_hexes
language sql stable parallel safe rows 1
as $$
  select
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind in (
      'smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'bombardment'
    )),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'bombardment'),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'on_fire'),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'fire_cleared'),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'illumination')
  from public.marker
  where marker.position_id = _marked.position_id
    and marker.q is not null
$$;

comment on function css._marked(bigint) is
'Hexes whose markers bear on sight: barrages and bombardments, fires, burnt ground, illumination.';

create or replace function css._sight_now(sight integer, burns boolean, burnt boolean, readings jsonb)
returns integer
language sql immutable parallel safe
return case
  -- 8.8.1: a fire blocks, and leaves clear ground behind
  when burns then
    (sight & (css._bit('rice_paddy') + css._bit('sugar_cane')))
    + css._bit('blocking') + css._bit('burns') + css._bit('hides_level')
  when burnt then sight & (css._bit('rice_paddy') + css._bit('sugar_cane'))
  when css._has(sight, 'rice_paddy') and readings ->> 'css-12' = 'a' then css._bit('rice_paddy')
  when css._has(sight, 'unprinted') and css._has(sight, 'sugar_cane') and readings ->> 'css-54' = 'b'
    then sight - css._bit('unprinted') + css._bit('brush') + css._bit('hides_level')
  else sight
end;

comment on function css._sight_now(integer, boolean, boolean, jsonb) is
'What the ground of a hex does to sight now: as printed, unless it burns, is burnt, or is read otherwise.';

create or replace function css._reread(readings jsonb)
returns integer
language sql immutable parallel safe
return case readings ->> 'css-12' when 'a' then css._bit('rice_paddy') else 0 end
+ case readings ->> 'css-54' when 'b' then css._bit('sugar_cane') else 0 end;

comment on function css._reread(jsonb) is
'The ground that is read otherwise than css._sight takes it: rice paddy (css-12), sugar cane (css-54).';

create or replace function css._cover(level integer, sight integer, above integer, readings jsonb)
returns text
language sql immutable parallel safe
return case
  when above is null or not css._has(sight, 'low_cover') then null
  when readings ->> 'css-44' = 'b' then 'counts'
  when readings ->> 'css-44' = 'c' and level <= above then 'overlooked'
  else 'low'
end;

comment on function css._cover(integer, integer, integer, jsonb) is
'Low cover before an end that looks down a steep slope (6.2.2), as css-44 is read; null is no such cover.';

-- Inlined into the queries that judge: its arguments are columns, so that nothing is worked out twice.
create or replace function css._obstacle(
  level integer,
  high integer,
  low integer,
  beside_low boolean,
  sight integer,
  cover text,
  barrage boolean,
  literal boolean
)
returns integer
language sql immutable parallel safe
return case when level is not null then
case
  -- 7.1.2: higher than both ends
  when level > high then css._bit('above_both')
  when level = high
    then
      -- 7.1.2 a: as high as the higher end
      case when high = low or cover = 'overlooked' then 0 else css._bit('level_with_higher') end
      + case
        when cover in ('low', 'overlooked') then css._bit('overlooked')
        -- 7.1.1 a: blocking terrain at the level of the higher end; below it, 7.1.2 e
        when css._has(sight, 'blocking') then css._bit('blocking')
        when high <> low then 0
        -- 7.1.1 c: one is seen through, the second is not; or what it does to sight is not printed
        else sight & case when barrage then css._bit('brush') else css._bit('brush') + css._bit('unprinted') end
      end
      -- what css-12 and css-54 turn on
      + case when high = low then sight & (css._bit('rice_paddy') + css._bit('sugar_cane')) else 0 end
  else
    -- the opening words of 7.1.2 taken literally (css-43)
    case
      when level <= low then 0
      when literal and cover is distinct from 'overlooked' then css._bit('rises') + css._bit('above_lower')
      else css._bit('rises')
    end
    + (sight & css._bit('hides_level'))
end
-- 7.1.2 b: beside the lower end and higher than it
+ case
  when high <> low and level > low and beside_low and cover is distinct from 'overlooked' then css._bit('blind_spot')
  else 0
end
-- 8.7.2
+ case when barrage then css._bit('barrage') else 0 end
+ (sight & css._bit('burns'))
+ case when cover is not null then css._bit('low_cover') else 0 end
end;

comment on function css._obstacle(integer, integer, integer, boolean, integer, text, boolean, boolean) is
'What a hex on the way is to the line, as bits of css._bit; null is a hex that is off the map.';

create or replace function css._stops(kind text, one integer, two integer)
returns boolean
language sql immutable parallel safe
return case
  -- a hex that is not there is off the map
  when one is null and two is null then kind = 'hex'
  -- along a side both hexes must stop the line (7.1.1 b), along the rim the one that is there
  else css._has(coalesce(one, two), 'stops') and css._has(coalesce(two, one), 'stops')
end;

comment on function css._stops(text, integer, integer) is
'Whether a cell on the way stops the line: a hex, or the two beside a spine, as css._obstacle judges them.';

create or replace function css._contested_point(one integer, two integer)
returns text
language sql immutable parallel safe
return case
  when css._has(coalesce(one, 0) | coalesce(two, 0), 'rice_paddy') then 'css-12'
  when css._has(coalesce(one, 0) | coalesce(two, 0), 'sugar_cane') then 'css-54'
  when css._has(coalesce(one, 0) | coalesce(two, 0), 'low_cover') then 'css-44'
end;

comment on function css._contested_point(integer, integer) is
'The contested point that a cell on the way counts as brush by: rice paddy, sugar cane, the view from above.';

create or replace function css._contestable()
returns integer
language sql immutable parallel safe
return css._bit('rice_paddy') + css._bit('sugar_cane') + css._bit('low_cover');

comment on function css._contestable() is
'The bits of css._bit that a contested point bears on: css-12, css-54, css-44.';

create or replace function css._weighs(obstacle integer, ground text)
returns boolean
language sql immutable parallel safe
return css._has(obstacle, ground)
and not css._has(obstacle, 'stops')
and obstacle & (css._bit('brush') + css._bit('unprinted')) <> 0;

comment on function css._weighs(integer, text) is
'Whether a hex counts as brush, or might, by being rice_paddy or sugar_cane.';

create or replace function css._unprinted(one integer, two integer)
returns boolean
language sql immutable parallel safe
return case
  when one is null or two is null then css._has(coalesce(one, two, 0), 'unprinted')
  -- one side that is open, or at worst thin, is enough (7.1.1 b)
  else (css._has(one, 'unprinted') and two & (css._bit('stops') + css._bit('unprinted')) <> 0)
    or (css._has(two, 'unprinted') and one & (css._bit('stops') + css._bit('unprinted')) <> 0)
end;

comment on function css._unprinted(integer, integer) is
'Whether a cell on the way turns on terrain whose sight the rulebook does not print.';

create or replace function css._brush_at_worst(one integer, two integer)
returns boolean
language sql immutable parallel safe
return coalesce(
  (css._has(one, 'unprinted') and css._has(two, 'brush')) or (css._has(two, 'unprinted') and css._has(one, 'brush')),
  false
);

comment on function css._brush_at_worst(integer, integer) is
'Whether a cell on the way counts as brush at worst: sugar cane on the one side, brush on the other.';

create or replace function css._counts_as_brush(one integer, two integer)
returns boolean
language sql immutable parallel safe
return coalesce(
  coalesce(one, two) & (css._bit('stops') + css._bit('brush')) <> 0
  and coalesce(two, one) & (css._bit('stops') + css._bit('brush')) <> 0
  and not (css._has(coalesce(one, two), 'stops') and css._has(coalesce(two, one), 'stops')),
  false
);

comment on function css._counts_as_brush(integer, integer) is
'Whether a cell on the way, which does not stop the line, counts as brush or rice paddy (7.1.1 c).';

create or replace function css._points(one integer, two integer)
returns text[]
language sql immutable parallel safe
return array_remove(
  array[
    case when css._weighs(one, 'rice_paddy') or css._weighs(two, 'rice_paddy') then 'css-12' end,
    case when css._weighs(one, 'sugar_cane') or css._weighs(two, 'sugar_cane') then 'css-54' end,
    case
      when
        (css._has(one, 'low_cover') and one & (css._bit('stops') + css._bit('brush') + css._bit('unprinted')) <> 0)
        or (css._has(two, 'low_cover') and two & (css._bit('stops') + css._bit('brush') + css._bit('unprinted')) <> 0)
        then 'css-44'
    end
  ],
  null
);

comment on function css._points(integer, integer) is
'All contested points that a cell on the way counts as brush by, or might.';

create or replace function css._further_points(one integer, two integer)
returns text[]
language sql immutable parallel safe
return case
  when css._unprinted(one, two) or css._brush_at_worst(one, two) then array_remove(css._points(one, two), 'css-54')
  when css._counts_as_brush(one, two) then array_remove(css._points(one, two), css._contested_point(one, two))
  else '{}'
end;

comment on function css._further_points(integer, integer) is
'The contested points that a cell on the way turns on beside the one that its own saying tells.';

create or replace function css._way(kind text, crossed boolean, beside boolean, corner text)
returns text
language sql immutable parallel safe
return case
  when kind = 'spine' then 'along'
  -- met at its end only (css-62)
  when kind = 'end' and not crossed and corner = 'a' then 'aside'
  when beside then 'beside'
  else 'across'
end;

comment on function css._way(text, boolean, boolean, text) is
'How a line meets a hexside: along it, aside at its end, beside an end of the line, or across it.';

create or replace function css._side_stops(cliff boolean, way text, of_cave boolean, overlooked boolean)
returns boolean
language sql immutable parallel safe
return coalesce(
  -- 7.1.2 d: along a blocking side; 6.3: out of a cave over any but a cliff
  way = 'along'
  or (of_cave and way <> 'aside' and not cliff)
  -- 6.2.2, 7.1.2 c: across one that belongs to neither end; a cliff may be overlooked (css-44)
  or (way = 'across' and not (overlooked and cliff)),
  false
);

comment on function css._side_stops(boolean, text, boolean, boolean) is
'Whether a blocking feature of a hexside on the way stops the line.';

create or replace function css._features(walls integer)
returns text[]
language sql immutable parallel safe
return array_remove(array[
  case when walls & css._wall('cliff') <> 0 then 'cliff' end,
  case when walls & css._wall('ridge') <> 0 then 'ridge' end,
  case when walls & css._wall('slope') <> 0 then 'slope' end,
  case when walls & css._wall('steep_slope') <> 0 then 'steep_slope' end
], null);

comment on function css._features(integer) is
'The walls on one hexside by name.';

create or replace view css.saying as
select
  saying.n,
  saying.name,
  saying.rule,
  saying.clause,
  saying.effect,
  saying.point,
  saying.cover_point,
  saying.note
from (
  values
  -- of a hex that stops the line
  (1, 'barrage', '8.7.2', null, 'blocks', null, null, '%1$s lies under a barrage, which no line passes'),
  (2, 'burns', '8.8.1', null, 'blocks', null, 'css-44', '%1$s burns'),
  (3, 'blocking', '7.1.1', 'a', 'blocks', null, 'css-44', '%1$s is %2$s at the level of the higher end'),
  (4, 'above_both', '7.1.2', null, 'blocks', null, 'css-44', '%1$s is higher than both ends'),
  (5, 'level_with_higher', '7.1.2', 'a', 'blocks', null, 'css-44', '%1$s is as high as the higher end'),
  (
    6, 'blind_spot', '7.1.2', 'b', 'blocks', null, 'css-44',
    '%1$s is higher than the lower end beside it: a blind spot'
  ),
  (7, 'above_lower', '7.1.2', null, 'blocks', 'css-43', null, '%1$s is higher than the lower end'),
  -- of one that does not
  (8, 'below_both', '7.1.1', 'a', 'passes', null, null, '%1$s is %2$s on lower ground'),
  (9, 'below_higher', '7.1.2', 'e', 'passes', null, null, '%1$s is %2$s on lower ground'),
  (10, 'overlooked', '6.2.2', null, 'passes', 'css-44', null, '%1$s is seen over from above a steep slope'),
  (
    11, 'rises', '7.1.2', null, 'passes', 'css-43', null,
    '%1$s rises above the lower end, but not beside it nor to the higher'
  ),
  (12, 'open_paddy', '6.2.1', null, 'passes', 'css-12', null, 'a rice paddy is open'),
  (13, 'unprinted', '6.2.1', null, 'unknown', 'css-54', null, 'what %2$s does to sight is not printed'),
  -- of a hex or a spine as a whole
  (14, 'off_map', '7.1.1', null, 'blocks', null, null, 'the line leaves the map'),
  (15, 'first_brush', '7.1.1', 'c', 'passes', null, null, '%1$s, the first brush or rice paddy, is seen through'),
  (
    16, 'second_brush', '7.1.1', 'c', 'blocks', null, null,
    '%1$s, the second brush or rice paddy, is not seen through'
  ),
  (17, 'brush_at_worst', '7.1.1', 'c', 'passes', 'css-54', null, 'at worst a brush that is seen through'),
  (18, 'clear_side', '7.1.1', 'b', 'passes', null, null, 'one side of the spine is clear'),
  -- of a line that grazes
  (19, 'along_side', '7.1.1', 'b', 'graze', null, null, 'the line runs along this side'),
  (20, 'corner', '7.1.1', null, 'graze', 'css-62', null, 'the line meets this hex in a corner point only'),
  (21, 'side_end', '6.2.2', null, 'graze', 'css-62', null, 'the line meets this side at its end'),
  -- of a cell that more than one reading bears on
  (22, 'further_point', '7.1.1', 'c', 'contested', null, null, 'what %1$s counts as turns on this too')
) as saying (n, name, rule, clause, effect, point, cover_point, note);

comment on view css.saying is
'All that a line of sight says of a hex: rule, clause, effect, contested point and words, by number and name.';
comment on column css.saying.n is 'Number, as it is carried while a line is judged';
comment on column css.saying.name is 'What is so; of a hex, mostly the bit of css._bit that is told';
comment on column css.saying.rule is 'The rule that speaks';
comment on column css.saying.clause is 'Its lettered item';
comment on column css.saying.effect is 'blocks, passes, graze, unknown or contested';
comment on column css.saying.point is 'The contested point it always turns on';
comment on column css.saying.cover_point is 'The one it turns on where the hex is low cover before an end that looks down';
comment on column css.saying.note is 'What is said: 1 stands for the place, 2 for its terrain';

-- Both are worked out when a plan is made: what they return for these arguments stands in it as a constant.
create or replace function css._sayings(what text)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return (select array_agg(to_jsonb(saying) ->> what order by saying.n) from css.saying);
end
$$;

comment on function css._sayings(text) is
'A column of css.saying as a list, to be looked up by number.';

create or replace function css._saying_of(name text)
returns integer
language plpgsql immutable parallel safe
as $$
begin
  return (select saying.n from css.saying where saying.name = _saying_of.name);
end
$$;

comment on function css._saying_of(text) is
'The number of a saying, by its name.';

create or replace function css._sight_step(
  saying integer, at text, terrain text, obstacle integer, point text, range integer
)
returns rulings.sight_step
language plpgsql immutable parallel safe
as $$
begin
  return row(
    (css._sayings('rule'))[saying],
    (css._sayings('clause'))[saying],
    at,
    (css._sayings('effect'))[saying],
    format((css._sayings('note'))[saying], at, replace(terrain, '_', ' ')),
    coalesce(
      (css._sayings('point'))[saying],
      case when css._has(obstacle, 'low_cover') then (css._sayings('cover_point'))[saying] end,
      point
    ),
    range,
    null
  )::rulings.sight_step;
end
$$;

comment on function css._sight_step(integer, text, text, integer, text, integer) is
'A saying about a place as a row of css.los; a contested point that it turns on goes before the given one.';

create or replace function css._cell_saying(kind text, one integer, two integer, brush integer)
returns integer
language sql immutable parallel safe
return case
  when css._stops(kind, one, two) then case when kind = 'hex' and one is null then css._saying_of('off_map') end
  when css._counts_as_brush(one, two)
    then case brush when 0 then css._saying_of('first_brush') else css._saying_of('second_brush') end
  when css._brush_at_worst(one, two) then css._saying_of('brush_at_worst')
  when
    not css._unprinted(one, two)
    and (coalesce(one, 0) | coalesce(two, 0)) & (css._bit('stops') + css._bit('brush') + css._bit('unprinted')) <> 0
    then css._saying_of('clear_side')
end;

comment on function css._cell_saying(text, integer, integer, integer) is
'What is said of a hex or a spine as a whole, by number, after so many that count as brush.';

create or replace function css._ground_sayings(
  obstacle integer, stops boolean, unprinted boolean, level_line boolean, readings jsonb
)
returns integer[]
language sql immutable parallel safe
return array_remove(
  case
    when stops then array[
      case when css._has(obstacle, 'barrage') then css._saying_of('barrage') end,
      case
        when css._has(obstacle, 'blocking') and css._has(obstacle, 'burns') then css._saying_of('burns')
        when css._has(obstacle, 'blocking') then css._saying_of('blocking')
      end,
      case when css._has(obstacle, 'above_both') then css._saying_of('above_both') end,
      case when css._has(obstacle, 'level_with_higher') then css._saying_of('level_with_higher') end,
      case when css._has(obstacle, 'blind_spot') then css._saying_of('blind_spot') end,
      case when css._has(obstacle, 'above_lower') then css._saying_of('above_lower') end
    ]
    else array[
      case
        when css._has(obstacle, 'hides_level')
          then case when level_line then css._saying_of('below_both') else css._saying_of('below_higher') end
      end,
      case when css._has(obstacle, 'overlooked') then css._saying_of('overlooked') end,
      case when css._has(obstacle, 'rises') and readings ->> 'css-43' = 'b' then css._saying_of('rises') end,
      case when css._has(obstacle, 'rice_paddy') and readings ->> 'css-12' = 'a' then css._saying_of('open_paddy') end,
      case when css._has(obstacle, 'unprinted') and unprinted then css._saying_of('unprinted') end
    ]
  end,
  null
);

comment on function css._ground_sayings(integer, boolean, boolean, boolean, jsonb) is
'What is said of a hex, by number: every reason where the line is stopped, every excuse where it is not.';

drop type if exists css.sighting cascade;
create type css.sighting as (
  position_id bigint,
  map_id bigint,
  conditions jsonb,
  readings jsonb,
  reach integer,
  marked boolean,
  names_units boolean,
  viewer_q integer,
  viewer_r integer,
  viewer_level integer,
  viewer_walls integer,
  viewer_in_cave boolean,
  target_q integer,
  target_r integer,
  target_level integer,
  target_walls integer,
  target_in_cave boolean,
  zone jsonb,
  away integer,
  high integer,
  low integer,
  lower_q integer,
  lower_r integer,
  literal boolean,
  above integer,
  marks css.marked_hexes
);

comment on type css.sighting is
'The two ends of a line of sight, and what holds on its map.';
comment on column css.sighting.reach is 'How far is seen now, but for lit hexes (7.1.2, 17.0)';
comment on column css.sighting.marked is 'Whether the position has markers; which bear on sight, `marks` tells';
comment on column css.sighting.zone is 'The naval zone of the target, which is seen at its beach hex (22.3.1)';
comment on column css.sighting.high is 'Level of the higher end; of the lower, `low`';
comment on column css.sighting.lower_q is 'The hex of the lower end, with lower_r';
comment on column css.sighting.literal is 'Whether the opening words of 7.1.2 are taken literally (css-43)';
comment on column css.sighting.above is
'Level of an end whose line crosses a steep slope of its own hex, which it stands above (6.2.2); null is none';

drop type if exists css.sight_cell cascade;
create type css.sight_cell as (
  kind text,
  crossed boolean,
  of_start boolean,
  of_target boolean,
  direction smallint,
  q integer,
  r integer,
  label text,
  level smallint,
  terrain text,
  sight integer,
  other_label text,
  other_level smallint,
  other_terrain text,
  other_sight integer,
  walls integer
);

comment on type css.sight_cell is
'A hex, a hexside or a corner that a line of sight meets, its ground and its walls.';
comment on column css.sight_cell.kind is 'hex, spine, side, touch or end, as lattice.trace has it';
comment on column css.sight_cell.direction is 'Where the other hex of a side lies; of a hex, where it is entered from';
comment on column css.sight_cell.walls is 'What on the side may stop the line: the bits of css._wall';

create or replace function css._above(view css.sighting)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return (
    select max(greatest(one.level, two.level))
    from lattice.trace
    inner join public.css_ground as one
      on one.map_id = view.map_id and one.q = view.viewer_q + trace.q1 and one.r = view.viewer_r + trace.r1
    inner join public.css_ground as two
      on two.map_id = view.map_id and two.q = view.viewer_q + trace.q2 and two.r = view.viewer_r + trace.r2
    where trace.dq = view.target_q - view.viewer_q
      and trace.dr = view.target_r - view.viewer_r
      and trace.crossed
      and (trace.of_start or trace.of_target)
      and css._walls(one.walls, trace.direction) & css._wall('steep_slope') <> 0
      and one.level <> two.level
      and (
        (trace.of_start and view.viewer_level = greatest(one.level, two.level))
        or (trace.of_target and view.target_level = greatest(one.level, two.level))
      )
  );
end
$$;

comment on function css._above(css.sighting) is
'The level of an end whose line crosses a steep slope of its own hex, which it stands above (6.2.2).';

create or replace function css._obstacle_at(view css.sighting, q integer, r integer, level integer, sight integer)
returns integer
language plpgsql immutable parallel safe
as $$
declare
  spot bigint := css._spot(q, r);
  sight_now integer := css._sight_now(
    sight,
    coalesce(spot = any((view.marks).burning), false),
    coalesce(spot = any((view.marks).burnt), false),
    view.readings
  );
  cover text := css._cover(level, sight_now, view.above, view.readings);
begin
  return css._obstacle(
    level, view.high, view.low, lattice.distance(q, r, view.lower_q, view.lower_r) = 1, sight_now, cover,
    coalesce(spot = any((view.marks).barraged), false), view.literal
  );
end
$$;

comment on function css._obstacle_at(css.sighting, integer, integer, integer, integer) is
'css._obstacle for a hex of one line, from the markers around and the readings in force.';

create or replace function css._sighting_of_units(hexes css.sighting, "from" text, "to" text)
returns css.sighting
language plpgsql stable
as $$
declare
  view css.sighting := hexes;
begin
  select
    viewer.q,
    viewer.r,
    viewer.level,
    viewer.walls,
    coalesce((observer.attributes ->> 'in_cave')::boolean, false),
    target.q,
    target.r,
    target.level,
    target.walls,
    coalesce((observed.attributes ->> 'in_cave')::boolean, false),
    observed.attributes -> 'zone'
  into
    view.viewer_q, view.viewer_r, view.viewer_level, view.viewer_walls, view.viewer_in_cave,
    view.target_q, view.target_r, view.target_level, view.target_walls, view.target_in_cave, view.zone
  from positions.place(view.position_id, _sighting_of_units."from") as observer
  cross join positions.place(view.position_id, _sighting_of_units."to") as observed
  left join public.css_ground as viewer
    on viewer.map_id = view.map_id and viewer.q = observer.q and viewer.r = observer.r
  left join public.css_ground as target
    on target.map_id = view.map_id and target.q = observed.q and target.r = observed.r;
  if view.zone is not null then
    -- 22.3.1: a naval zone is seen at its beach hex
    select target.q, target.r, target.level, target.walls
    into view.target_q, view.target_r, view.target_level, view.target_walls
    from positions.place(view.position_id, 'hex:' || (view.zone ->> 'beach')) as place
    inner join public.css_ground as target
      on target.map_id = view.map_id and target.q = place.q and target.r = place.r;
  end if;
  if view.viewer_q is null or view.target_q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map',
      _sighting_of_units."from", _sighting_of_units."to"
      using errcode = 'no_data_found';
  end if;
  view.away := lattice.distance(view.viewer_q, view.viewer_r, view.target_q, view.target_r);
  view.high := greatest(view.viewer_level, view.target_level);
  view.low := least(view.viewer_level, view.target_level);
  view.lower_q := case when view.target_level < view.viewer_level then view.target_q else view.viewer_q end;
  view.lower_r := case when view.target_level < view.viewer_level then view.target_r else view.viewer_r end;
  return view;
end
$$;

comment on function css._sighting_of_units(css.sighting, text, text) is
'A sighting whose ends are units, or a unit and a hex, by the names asked.';

create or replace function css._sighting(
  position_id bigint, "from" text, "to" text, conditions jsonb, policy jsonb
)
returns css.sighting
language plpgsql stable
as $$
declare
  view css.sighting;
  start_label text := case when _sighting."from" not like 'unit:%' then positions.spoken(_sighting."from") end;
  target_label text := case when _sighting."to" not like 'unit:%' then positions.spoken(_sighting."to") end;
begin
  select
    state.position_id,
    state.map_id,
    state.conditions,
    state.readings,
    css._visibility(state.conditions, false),
    exists (select from public.marker where marker.position_id = _sighting.position_id),
    exists (
      select from public.unit
      where unit.position_id = _sighting.position_id and unit.code in (_sighting."from", _sighting."to")
    ),
    viewer.q,
    viewer.r,
    viewer.level,
    viewer.walls,
    false,
    target.q,
    target.r,
    target.level,
    target.walls,
    false,
    null,
    lattice.distance(viewer.q, viewer.r, target.q, target.r),
    greatest(viewer.level, target.level),
    least(viewer.level, target.level),
    case when target.level < viewer.level then target.q else viewer.q end,
    case when target.level < viewer.level then target.r else viewer.r end,
    state.readings ->> 'css-43' = 'a',
    null,
    null
  into view
  from positions.state(_sighting.position_id, _sighting.conditions, _sighting.policy) as state
  left join public.css_ground as viewer on viewer.map_id = state.map_id and viewer.label = start_label
  left join public.css_ground as target on target.map_id = state.map_id and target.label = target_label;
  -- units are asked for less often than hexes
  if view.names_units or view.away is null then
    view := css._sighting_of_units(view, _sighting."from", _sighting."to");
  end if;
  if view.marked then
    view.marks := (select mark from css._marked(_sighting.position_id) as mark);
  end if;
  if (view.viewer_walls | view.target_walls) & css._on_any_side('steep_slope') <> 0 then
    view.above := css._above(view);
  end if;
  return view;
end
$$;

comment on function css._sighting(bigint, text, text, jsonb, jsonb) is
'The line of sight between two hexes or units, by the names asked.';

-- A dozen fields of a sighting that every cell reads go in as numbers: as fields of one they take a twentieth longer.
create or replace function css._line_cells(
  map_id bigint, q integer, r integer, dq integer, dr integer, low integer, marked boolean
)
returns setof css.sight_cell
language sql stable rows 8
as $$
  select
    trace.kind,
    trace.crossed,
    trace.of_start,
    trace.of_target,
    trace.direction,
    _line_cells.q + trace.q1,
    _line_cells.r + trace.r1,
    one.label,
    one.level,
    one.terrain,
    one.sight,
    two.label,
    two.level,
    two.terrain,
    two.sight,
    -- a side of the rim is known from within
    coalesce(
      css._walls(one.walls, trace.direction), css._walls(two.walls, lattice.opposite(trace.direction))
    )
  from lattice.trace
  left join public.css_ground as one
    on one.map_id = _line_cells.map_id and one.q = _line_cells.q + trace.q1 and one.r = _line_cells.r + trace.r1
  -- a key that is null is looked up nowhere
  left join public.css_ground as two
    on two.map_id = _line_cells.map_id
      and two.q = case
        when trace.kind <> 'hex' or css._walls(one.walls, trace.direction) is distinct from 0
          then _line_cells.q + trace.q1 + lattice.step_q(trace.direction)
      end
      and two.r = _line_cells.r + trace.r1 + lattice.step_r(trace.direction)
  where trace.dq = _line_cells.dq
    and trace.dr = _line_cells.dr
    -- a hex knows the side that leads into it
    and not trace.leads_in
    -- neither a side without a wall says anything, nor low open ground
    and case
      when css._walls(one.walls, trace.direction) <> 0 then true
      when trace.kind = 'hex'
        then one.level is null or one.level > _line_cells.low or one.sight <> 0 or _line_cells.marked
      when trace.kind = 'side' then one.walls is null
      when trace.kind = 'end' then one.walls is null or trace.crossed
      else true
    end
  order by trace.n
$$;

comment on function css._line_cells(bigint, integer, integer, integer, integer, integer, boolean) is
'The cells on the line from a hex by a displacement that may say something, in their order; low is the lower end''s level.';

create or replace function css._wall_step(
  view css.sighting, feature text, way text, of_cave boolean, at text, corner boolean
)
returns rulings.sight_step
language plpgsql immutable parallel safe
as $$
declare
  is_cliff boolean := feature = 'cliff';
  level_line boolean := view.high = view.low;
  from_above boolean := is_cliff and way = 'across' and view.above is not null;
  -- 6.2.2: seen over from above a steep slope, as css-44 is read
  overlooked boolean := from_above and view.readings ->> 'css-44' <> 'b';
  -- 6.3: out of a cave over any side but a cliff
  shut_in boolean := of_cave and way <> 'aside' and not is_cliff;
  blocks boolean := css._side_stops(is_cliff, way, of_cave, overlooked);
begin
  return row(
    case
      when way = 'along' then '7.1.2'
      when shut_in then '6.3'
      when level_line or overlooked then '6.2.2'
      else '7.1.2'
    end,
    case when way = 'along' then 'd' when not (shut_in or level_line or overlooked) then 'c' end,
    at,
    case when blocks then 'blocks' else 'passes' end,
    format(
      case when blocks then 'a %s in the way' else 'a %s that does not hide what lies beyond' end,
      replace(feature, '_', ' ')
    ),
    case when from_above then 'css-44' when corner then 'css-62' end,
    view.away,
    null
  )::rulings.sight_step;
end
$$;

comment on function css._wall_step(css.sighting, text, text, boolean, text, boolean) is
'What a wall on a hexside is to the line, as a row of css.los.';

create or replace function css._side_steps(view css.sighting, cell css.sight_cell)
returns rulings.sight_step[]
language plpgsql immutable parallel safe
as $$
declare
  at text := positions.side_label(cell.label, cell.other_label);
  -- of a hex, the side it is entered by
  beside_start boolean := cell.of_start or (
    cell.kind = 'hex'
    and cell.q + lattice.step_q(cell.direction) = view.viewer_q
    and cell.r + lattice.step_r(cell.direction) = view.viewer_r
  );
  grazed integer := case
    when cell.kind = 'spine' then css._saying_of('along_side')
    when cell.kind = 'touch' then css._saying_of('corner')
    when cell.kind = 'end' and (cell.crossed or cell.walls <> 0) then css._saying_of('side_end')
  end;
  steps rulings.sight_step[] := '{}';
  feature text;
begin
  if grazed is not null then
    steps := array[css._sight_step(grazed, at, null, 0, null, view.away)];
  end if;
  if cell.walls <> 0 then
    foreach feature in array css._features(cell.walls) loop
      steps := steps || css._wall_step(
        view,
        feature,
        css._way(cell.kind, cell.crossed, beside_start or cell.of_target, view.readings ->> 'css-62'),
        (view.viewer_in_cave and beside_start) or (view.target_in_cave and cell.of_target),
        at,
        cell.kind = 'end'
      );
    end loop;
  end if;
  return steps;
end
$$;

comment on function css._side_steps(css.sighting, css.sight_cell) is
'What a hexside or corner on the way says: that the line grazes it, and every wall on it.';

create or replace function css._naval_hexes(run text)
returns integer
language sql immutable parallel safe
return case run when 'final_run_in' then 1 when 'approach' then 3 end;

comment on function css._naval_hexes(text) is
'How many hexes a naval zone is off its beach; null is out of all range (22.3.1).';

create or replace function css._naval_effect(run text)
returns text
language sql immutable parallel safe
return coalesce('+' || css._naval_hexes(run), 'out of range');

comment on function css._naval_effect(text) is
'What a naval zone does to a range counted to its beach (22.3.1).';

create or replace function css._naval_steps(view css.sighting, "to" text)
returns setof rulings.sight_step
language sql immutable parallel safe rows 3
as $$
  values
  ('7.1.2', null, "to", 'passes', 'a unit in a sea zone is always spotted', 'css-64', view.away, null::integer),
  (
    '22.3.1', null, view.zone ->> 'beach', css._naval_effect(view.zone ->> 'run'),
    'the range of a naval zone is counted at the beach hex', null, view.away, null
  ),
  (
    '7.1.2', null, "to", 'visible', 'nothing hides it', null,
    view.away + css._naval_hexes(view.zone ->> 'run'), null
  )
$$;

comment on function css._naval_steps(css.sighting, text) is
'The rows of css.los for a unit in a naval zone where 7.1.2 spots it whatever lies between (css-64).';

create or replace function css._shut_in(readings jsonb, bombarded boolean)
returns boolean
language sql immutable parallel safe
return readings ->> 'css-11' = 'a' or (readings ->> 'css-11' = 'c' and coalesce(bombarded, false));

comment on function css._shut_in(jsonb, boolean) is
'Whether a viewer under a barrage, or a bombardment, sees adjacent hexes alone (7.1.2, 8.7.2), as css-11 is read.';

create or replace function css._whole_line_steps(view css.sighting, "from" text, "to" text)
returns setof rulings.sight_step
language plpgsql stable rows 2
as $$
declare
  reach integer := css._visibility(
    view.conditions, css._spot(view.target_q, view.target_r) = any((view.marks).lit)
  );
  shut_in boolean;
begin
  if view.away = 0 and view.viewer_in_cave <> view.target_in_cave then
    return next row(
      '6.3', null, "to", 'passes', 'the same hex is always seen', null, view.away, null
    )::rulings.sight_step;
  elsif view.away = 1 then
    return next row(
      '7.1.2', null, "to", 'passes', 'an adjacent hex is always seen', null, view.away, null
    )::rulings.sight_step;
  elsif view.away > reach or (view.away > 1 and view.reach < 8) then
    return next row(
      case
        when view.conditions ->> 'time' = 'night' and reach > 1 then '8.7.3'
        else css._visibility_rule(view.conditions)
      end,
      null,
      "to",
      case when view.away > reach then 'blocks' else 'passes' end,
      case
        when view.away > reach then format('sight is %s, the range is %s', css._hexes(reach), view.away)
        else css._hexes(reach) || ' can be seen now'
      end,
      null,
      view.away,
      null
    )::rulings.sight_step;
  end if;
  if view.away > 1 and css._spot(view.viewer_q, view.viewer_r) = any((view.marks).barraged) then
    shut_in := css._shut_in(view.readings, css._spot(view.viewer_q, view.viewer_r) = any((view.marks).bombarded));
    return next row(
      case when shut_in then '7.1.2' else '8.7.2' end,
      null,
      "from",
      case when shut_in then 'blocks' else 'passes' end,
      case
        when shut_in then 'under a barrage or bombardment only adjacent hexes are seen'
        else 'out of a barrage sight is normal'
      end,
      'css-11',
      view.away,
      null
    )::rulings.sight_step;
  end if;
end
$$;

comment on function css._whole_line_steps(css.sighting, text, text) is
'What a line of sight is subject to as a whole: how far is seen now, and a barrage on the viewer.';

create or replace function css._range_of_ends(view css.sighting)
returns integer
language sql immutable parallel safe
return case
  when view.zone is not null then view.away + css._naval_hexes(view.zone ->> 'run')
  -- 6.3: inside and outside of a cave are one hex apart
  when view.away = 0 and view.viewer_in_cave <> view.target_in_cave then 1
  else view.away
end;

comment on function css._range_of_ends(css.sighting) is
'The range between the ends of a line of sight, with what a naval zone (22.3.1) or the mouth of a cave (6.3) adds.';

create or replace function css._sight_verdict(view css.sighting, "to" text, verdict text)
returns rulings.sight_step
language plpgsql immutable parallel safe
as $$
begin
  return row(
    '7.1.1',
    null,
    "to",
    verdict,
    case verdict
      when 'blocked' then 'the line of sight is blocked'
      when 'unknown' then 'the rulebook does not print what would decide it'
      else 'nothing stops the line of sight'
    end,
    null,
    css._range_of_ends(view),
    null
  )::rulings.sight_step;
end
$$;

comment on function css._sight_verdict(css.sighting, text, text) is
'The last row of css.los.';

create or replace function css._los(
  position_id bigint, "from" text, "to" text, conditions jsonb, policy jsonb
)
returns setof rulings.sight_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_seqscan = off
as $$
declare
  view css.sighting := css._sighting(_los.position_id, _los."from", _los."to", _los.conditions, _los.policy);
  target_name text := positions.spoken(_los."to");
  cell css.sight_cell;
  step rulings.sight_step;
  one integer;
  two integer;
  saying integer;
  stops boolean;
  unprinted boolean;
  -- the point that a hex met in a corner turns on
  point text;
  stopped boolean := false;
  unknown boolean := false;
  -- how many count as brush, how many more would at worst, and the last of these (7.1.1 c)
  brush integer := 0;
  doubtful integer := 0;
  doubtful_at text;
begin
  if view.zone is not null and view.readings ->> 'css-64' = 'b' then
    return query
    select * from css._naval_steps(view, target_name);
    return;
  end if;
  if view.marked or view.away < 2 or view.away > view.reach or view.reach < 8 then
    for step in
      select * from css._whole_line_steps(view, positions.spoken(_los."from"), target_name)
    loop
      stopped := stopped or step.effect = 'blocks';
      return next step;
    end loop;
  end if;
  for cell in
    select *
    from css._line_cells(
      view.map_id, view.viewer_q, view.viewer_r, view.target_q - view.viewer_q, view.target_r - view.viewer_r,
      view.low, view.marked
    )
  loop
    if cell.kind <> 'hex' or cell.walls <> 0 then
      foreach step in array css._side_steps(view, cell) loop
        stopped := stopped or step.effect = 'blocks';
        return next step;
      end loop;
    end if;
    -- css-62: a hex that is met in a corner point
    point := case cell.kind when 'touch' then 'css-62' end;
    continue when cell.kind in ('side', 'end') or (cell.kind = 'touch' and view.readings ->> 'css-62' <> 'b');
    if view.marked or view.above is not null or cell.sight & css._reread(view.readings) <> 0 then
      one := css._obstacle_at(view, cell.q, cell.r, cell.level, cell.sight);
    else
      one := css._obstacle(
        cell.level, view.high, view.low, lattice.distance(cell.q, cell.r, view.lower_q, view.lower_r) = 1,
        cell.sight, null, false, view.literal
      );
    end if;
    two := null;
    if cell.kind = 'spine' then
      two := css._obstacle_at(
        view, cell.q + lattice.step_q(cell.direction), cell.r + lattice.step_r(cell.direction), cell.other_level,
        cell.other_sight
      );
    end if;
    stops := css._stops(cell.kind, one, two);
    unprinted := css._unprinted(one, two);
    saying := css._cell_saying(cell.kind, one, two, brush);
    if saying is not null then
      step := css._sight_step(
        saying, positions.side_label(cell.label, case cell.kind when 'spine' then cell.other_label end), null, 0,
        coalesce(css._contested_point(one, two), point), view.away
      );
      if saying in (css._saying_of('first_brush'), css._saying_of('second_brush')) then
        brush := brush + 1;
      elsif saying = css._saying_of('brush_at_worst') then
        doubtful := doubtful + 1;
        doubtful_at := step.at;
      end if;
      return next step;
    end if;
    foreach saying in array css._ground_sayings(one, stops, unprinted, view.high = view.low, view.readings) loop
      return next css._sight_step(saying, cell.label, cell.terrain, one, point, view.away);
    end loop;
    if two is not null then
      foreach saying in array css._ground_sayings(two, stops, unprinted, view.high = view.low, view.readings) loop
        return next css._sight_step(saying, cell.other_label, cell.other_terrain, two, point, view.away);
      end loop;
    end if;
    -- asked first, since a large expression takes long to begin with
    if (coalesce(one, 0) | coalesce(two, 0)) & css._contestable() <> 0 then
      foreach point in array css._further_points(one, two) loop
        return next css._sight_step(
          css._saying_of('further_point'),
          positions.side_label(cell.label, case cell.kind when 'spine' then cell.other_label end), null, 0, point, view.away
        );
      end loop;
    end if;
    stopped := stopped or stops;
    unknown := unknown or unprinted;
  end loop;
  if doubtful > 0 and brush < 2 and brush + doubtful > 1 then
    unknown := true;
    return next css._sight_step(css._saying_of('unprinted'), doubtful_at, 'sugar_cane', 0, null, view.away);
  end if;
  if view.zone is not null then
    return next row(
      '22.3.1', null, view.zone ->> 'beach', css._naval_effect(view.zone ->> 'run'),
      'a naval zone is seen, and its range counted, at the beach hex', 'css-64', view.away, null
    )::rulings.sight_step;
  end if;
  return next css._sight_verdict(
    view, target_name, case when stopped or brush > 1 then 'blocked' when unknown then 'unknown' else 'visible' end
  );
end
$$;

comment on function css._los(bigint, text, text, jsonb, jsonb) is
'The rows of css.los.';

create or replace function css.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.sight_step
language sql stable rows 8
as $$
  select * from css._los(los.position_id, los."from", los."to", los.conditions, los.policy)
$$;

comment on function css.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another: a row for every rule that speaks, the verdict last.';
