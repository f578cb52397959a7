-- needs: css/ground.sql, lattice/trace.sql, positions/place.sql, positions/state.sql, rulings/step.sql
-- Line of sight in css (Guam): 6.2.1, 6.2.2, 6.3, 7.1, 8.7.2, 8.7.3, 8.8.1, 17.0, 22.3.1.
--
-- `css._met` judges a hex and `css._side_stops` a hexside. `css.los` asks them for the cells
-- of one line and tells the rules that speak. `css.fan` (fan.sql) asks `css._met` for kinds of
-- ground instead, and compares walls with lines as sets.
--
-- What a hex is to a line, or its ground in itself, is a number whose bits mean:
--      1  under a barrage (8.7.2)                  256  what it does to sight is not printed
--      2  higher than both ends (7.1.2)            512  rice paddy (css-12)
--      4  as high as the higher end (7.1.2 a)     1024  hides nothing from higher ground (7.1.2 e)
--      8  a blind spot (7.1.2 b)                  2048  seen over from above (6.2.2)
--     16  higher than the lower end (css-43)      4096  rises above the lower end (css-43)
--     32  blocking terrain (7.1.1 a)              8192  sugar cane (css-54)
--     64  it burns (8.8.1)                       16384  low cover, to who looks down (css-44)
--    128  brush or rice paddy (7.1.1 c)
-- The first six stop the line.
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
return case n when 1 then 'one hex' else n || ' hexes' end;

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

create or replace function css._marked(position_id bigint)
returns table (barraged bigint[], bombarded bigint[], burning bigint[], burnt bigint[], lit bigint[])
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
  when burns then (sight & (512 + 8192)) + 32 + 64 + 1024
  when burnt then sight & (512 + 8192)
  when sight & 512 <> 0 and readings ->> 'css-12' = 'a' then 512
  when sight & (256 + 8192) = 256 + 8192 and readings ->> 'css-54' = 'b' then sight - 256 + 128 + 1024
  else sight
end;

comment on function css._sight_now(integer, boolean, boolean, jsonb) is
'What the ground of a hex does to sight now: as printed, unless it burns, is burnt, or is read otherwise.';

create or replace function css._reread(readings jsonb)
returns integer
language sql immutable parallel safe
return case readings ->> 'css-12' when 'a' then 512 else 0 end
+ case readings ->> 'css-54' when 'b' then 8192 else 0 end;

comment on function css._reread(jsonb) is
'The ground that is read otherwise than css._sight takes it: rice paddy (css-12), sugar cane (css-54).';

create or replace function css._cover(level integer, sight integer, above integer, readings jsonb)
returns text
language sql immutable parallel safe
return case
  when above is null or sight & 16384 = 0 then null
  when readings ->> 'css-44' = 'b' then 'counts'
  when readings ->> 'css-44' = 'c' and level <= above then 'overlooked'
  else 'low'
end;

comment on function css._cover(integer, integer, integer, jsonb) is
'Low cover before an end that looks down a steep slope (6.2.2), as css-44 is read; null is no such cover.';

-- Inlined into the queries that judge: its arguments are columns, so that nothing is worked out twice.
create or replace function css._met(
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
  when level > high then 2
  when level = high
    then
      -- 7.1.2 a: as high as the higher end
      case when high = low or cover = 'overlooked' then 0 else 4 end
      + case
        when cover in ('low', 'overlooked') then 2048
        -- 7.1.1 a: blocking terrain at the level of the higher end; below it, 7.1.2 e
        when sight & 32 <> 0 then 32
        when high <> low then 0
        -- 7.1.1 c: one is seen through, the second is not; or what it does to sight is not printed
        else sight & case when barrage then 128 else 128 + 256 end
      end
      -- what css-12 and css-54 turn on
      + case when high = low then sight & (512 + 8192) else 0 end
  else
    -- the opening words of 7.1.2 taken literally (css-43)
    case
      when level <= low then 0
      when literal and cover is distinct from 'overlooked' then 4096 + 16
      else 4096
    end
    + (sight & 1024)
end
-- 7.1.2 b: beside the lower end and higher than it
+ case when high <> low and level > low and beside_low and cover is distinct from 'overlooked' then 8 else 0 end
-- 8.7.2
+ case when barrage then 1 else 0 end
+ (sight & 64)
+ case when cover is not null then 16384 else 0 end
end;

comment on function css._met(integer, integer, integer, boolean, integer, text, boolean, boolean) is
'What a hex on the way is to the line, as bits: the low six (1 to 32) stop it, 128 thins it; the rest is told.';

create or replace function css._stops(kind text, met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return case
  -- a hex that is not there is off the map
  when met1 is null and met2 is null then kind = 'hex'
  -- along a side both hexes must stop the line (7.1.1 b), along the rim the one that is there
  else coalesce(met1, met2) & 63 <> 0 and coalesce(met2, met1) & 63 <> 0
end;

comment on function css._stops(text, integer, integer) is
'Whether a cell on the way stops the line.';

create or replace function css._point_of(met1 integer, met2 integer)
returns text
language sql immutable parallel safe
return case
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 512 <> 0 then 'css-12'
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 8192 <> 0 then 'css-54'
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 16384 <> 0 then 'css-44'
end;

comment on function css._point_of(integer, integer) is
'The contested point that a cell on the way counts as brush by: rice paddy, sugar cane, the view from above.';

create or replace function css._untold(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return case
  when met1 is null or met2 is null then coalesce(met1, met2, 0) & 256 <> 0
  -- one side that is open, or at worst thin, is enough (7.1.1 b)
  else (met1 & 256 <> 0 and met2 & 319 <> 0) or (met2 & 256 <> 0 and met1 & 319 <> 0)
end;

comment on function css._untold(integer, integer) is
'Whether a cell on the way turns on terrain whose sight the rulebook does not print.';

create or replace function css._may_thin(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return coalesce((met1 & 256 <> 0 and met2 & 128 <> 0) or (met2 & 256 <> 0 and met1 & 128 <> 0), false);

comment on function css._may_thin(integer, integer) is
'Whether a cell on the way counts as brush at worst: sugar cane on the one side, brush on the other.';

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

create or replace function css._thins(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return coalesce(
  coalesce(met1, met2) & 191 <> 0
  and coalesce(met2, met1) & 191 <> 0
  and not (coalesce(met1, met2) & 63 <> 0 and coalesce(met2, met1) & 63 <> 0),
  false
);

comment on function css._thins(integer, integer) is
'Whether a cell on the way, which does not stop the line, counts as brush or rice paddy (7.1.1 c).';

create or replace view css.saying as
select
  saying.n,
  saying.rule,
  saying.clause,
  saying.effect,
  saying.point,
  saying.note
from (
  values
  -- of a hex that stops the line
  (1, '8.7.2', null, 'blocks', null, '%1$s lies under a barrage, which no line passes'),
  (2, '8.8.1', null, 'blocks', null, '%1$s burns'),
  (3, '7.1.1', 'a', 'blocks', null, '%1$s is %2$s at the level of the higher end'),
  (4, '7.1.2', null, 'blocks', null, '%1$s is higher than both ends'),
  (5, '7.1.2', 'a', 'blocks', null, '%1$s is as high as the higher end'),
  (6, '7.1.2', 'b', 'blocks', null, '%1$s is higher than the lower end beside it: a blind spot'),
  (7, '7.1.2', null, 'blocks', 'css-43', '%1$s is higher than the lower end'),
  -- of one that does not
  (8, '7.1.1', 'a', 'passes', null, '%1$s is %2$s on lower ground'),
  (9, '7.1.2', 'e', 'passes', null, '%1$s is %2$s on lower ground'),
  (10, '6.2.2', null, 'passes', 'css-44', '%1$s is seen over from above a steep slope'),
  (11, '7.1.2', null, 'passes', 'css-43', '%1$s rises above the lower end, but not beside it nor to the higher'),
  (12, '6.2.1', null, 'passes', 'css-12', 'a rice paddy is open'),
  (13, '6.2.1', null, 'unknown', 'css-54', 'what %2$s does to sight is not printed'),
  -- of a hex or a spine as a whole
  (14, '7.1.1', null, 'blocks', null, 'the line leaves the map'),
  (15, '7.1.1', 'c', 'passes', null, '%1$s, the first brush or rice paddy, is seen through'),
  (16, '7.1.1', 'c', 'blocks', null, '%1$s, the second brush or rice paddy, is not seen through'),
  (17, '7.1.1', 'c', 'passes', 'css-54', 'at worst a brush that is seen through'),
  (18, '7.1.1', 'b', 'passes', null, 'one side of the spine is clear'),
  -- of a line that grazes
  (19, '7.1.1', 'b', 'graze', null, 'the line runs along this side'),
  (20, '7.1.1', null, 'graze', 'css-62', 'the line meets this hex in a corner point only'),
  (21, '6.2.2', null, 'graze', 'css-62', 'the line meets this side at its end')
) as saying (n, rule, clause, effect, point, note);

comment on view css.saying is
'All that a line of sight says of a hex: rule, clause, effect, contested point and words, by number.';
comment on column css.saying.n is 'Number, as css._say gives it';
comment on column css.saying.rule is 'The rule that speaks';
comment on column css.saying.clause is 'Its lettered item';
comment on column css.saying.effect is 'blocks, passes, graze or unknown';
comment on column css.saying.point is 'The contested point it always turns on';
comment on column css.saying.note is 'What is said: 1 stands for the place, 2 for its terrain';

-- Told once, when a plan is made: for these arguments, what it returns stands in the plan as a constant.
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

create or replace function css._tell(saying integer, at text, terrain text, point text, range integer)
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
    coalesce((css._sayings('point'))[saying], point),
    range,
    null
  )::rulings.sight_step;
end
$$;

comment on function css._tell(integer, text, text, text, integer) is
'A saying about a place as a row of css.los; a contested point that it always turns on goes before the given one.';

create or replace function css._tell_side(
  feature text, way text, of_cave boolean, from_above boolean, same boolean, readings jsonb, at text, corner boolean,
  range integer
)
returns rulings.sight_step
language plpgsql immutable parallel safe
as $$
declare
  is_cliff boolean := feature = 'cliff';
  -- 6.2.2: seen over from above a steep slope, as css-44 is read
  overlooked boolean := is_cliff and way = 'across' and from_above and readings ->> 'css-44' <> 'b';
  -- 6.3: out of a cave over any side but a cliff
  shut_in boolean := of_cave and way <> 'aside' and not is_cliff;
  blocks boolean := css._side_stops(is_cliff, way, of_cave, overlooked);
begin
  return row(
    case
      when way = 'along' then '7.1.2'
      when shut_in then '6.3'
      when same or overlooked then '6.2.2'
      else '7.1.2'
    end,
    case when way = 'along' then 'd' when not (shut_in or same or overlooked) then 'c' end,
    at,
    case when blocks then 'blocks' else 'passes' end,
    format(
      case when blocks then 'a %s in the way' else 'a %s that does not hide what lies beyond' end,
      replace(feature, '_', ' ')
    ),
    case when is_cliff and way = 'across' and from_above then 'css-44' when corner then 'css-62' end,
    range,
    null
  )::rulings.sight_step;
end
$$;

comment on function css._tell_side(text, text, boolean, boolean, boolean, jsonb, text, boolean, integer) is
'What a wall on a hexside is to the line, as a row of css.los.';

create or replace function css._say(
  first integer, met integer, stops boolean, untold boolean, same boolean, readings jsonb
)
returns integer[]
language sql immutable parallel safe
return array_remove(
  case
    when stops then array[
      first,
      case when met & 1 <> 0 then 1 end,
      case when met & 96 = 96 then 2 when met & 32 <> 0 then 3 end,
      case when met & 2 <> 0 then 4 end,
      case when met & 4 <> 0 then 5 end,
      case when met & 8 <> 0 then 6 end,
      case when met & 16 <> 0 then 7 end
    ]
    else array[
      first,
      case when met & 1024 <> 0 then case when same then 8 else 9 end end,
      case when met & 2048 <> 0 then 10 end,
      case when met & 4096 <> 0 and readings ->> 'css-43' = 'b' then 11 end,
      case when met & 512 <> 0 and readings ->> 'css-12' = 'a' then 12 end,
      case when met & 256 <> 0 and untold then 13 end
    ]
  end,
  null
);

comment on function css._say(integer, integer, boolean, boolean, boolean, jsonb) is
'What is said of the bits of css._met, by number: every reason where the line is stopped, every excuse where it is not.';

drop type if exists css.sighting cascade;
create type css.sighting as (
  map_id bigint,
  conditions jsonb,
  readings jsonb,
  reach integer,
  marked boolean,
  names_units boolean,
  aq integer,
  ar integer,
  alevel integer,
  awalls integer,
  a_in_cave boolean,
  tq integer,
  tr integer,
  tlevel integer,
  twalls integer,
  t_in_cave boolean,
  zone jsonb,
  away integer,
  high integer,
  low integer,
  lower_q integer,
  lower_r integer,
  literal boolean
);

comment on type css.sighting is
'The two ends of a line of sight (a, the viewer, and t, the target), and what holds on its map.';

create or replace function css._above(view css.sighting)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return (
    select max(greatest(one.level, two.level))
    from lattice.trace
    inner join public.css_ground as one
      on one.map_id = view.map_id and one.q = view.aq + trace.q1 and one.r = view.ar + trace.r1
    inner join public.css_ground as two
      on two.map_id = view.map_id and two.q = view.aq + trace.q2 and two.r = view.ar + trace.r2
    where trace.dq = view.tq - view.aq
      and trace.dr = view.tr - view.ar
      and trace.crossed
      and (trace.of_start or trace.of_target)
      and css._walls(one.walls, trace.direction) & css._wall('steep_slope') <> 0
      and one.level <> two.level
      and (
        (trace.of_start and view.alevel = greatest(one.level, two.level))
        or (trace.of_target and view.tlevel = greatest(one.level, two.level))
      )
  );
end
$$;

comment on function css._above(css.sighting) is
'The level of an end whose line crosses a steep slope of its own hex, which it stands above (6.2.2).';

create or replace function css._met_at(
  q integer,
  r integer,
  level integer,
  sight integer,
  view css.sighting,
  above integer,
  barraged bigint[],
  burning bigint[],
  burnt bigint[]
)
returns integer
language plpgsql immutable parallel safe
as $$
declare
  now integer := css._sight_now(
    sight,
    coalesce(css._spot(q, r) = any(burning), false),
    coalesce(css._spot(q, r) = any(burnt), false),
    view.readings
  );
  cover text := css._cover(level, now, above, view.readings);
begin
  return css._met(
    level, view.high, view.low, lattice.distance(q, r, view.lower_q, view.lower_r) = 1, now, cover,
    coalesce(css._spot(q, r) = any(barraged), false), view.literal
  );
end
$$;

comment on function css._met_at(
  integer, integer, integer, integer, css.sighting, integer, bigint[], bigint[], bigint[]
) is
'css._met for a hex of one line, from the markers around and the readings in force.';

create or replace function css._sighting_of_units(
  position_id bigint, "from" text, "to" text, hexes css.sighting
)
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
    view.aq, view.ar, view.alevel, view.awalls, view.a_in_cave,
    view.tq, view.tr, view.tlevel, view.twalls, view.t_in_cave, view.zone
  from positions.place(_sighting_of_units.position_id, _sighting_of_units."from") as observer
  cross join positions.place(_sighting_of_units.position_id, _sighting_of_units."to") as observed
  left join public.css_ground as viewer
    on viewer.map_id = view.map_id and viewer.q = observer.q and viewer.r = observer.r
  left join public.css_ground as target
    on target.map_id = view.map_id and target.q = observed.q and target.r = observed.r;
  if view.zone is not null then
    -- 22.3.1: a naval zone is seen at its beach hex
    select target.q, target.r, target.level, target.walls
    into view.tq, view.tr, view.tlevel, view.twalls
    from positions.place(_sighting_of_units.position_id, 'hex:' || (view.zone ->> 'beach')) as place
    inner join public.css_ground as target
      on target.map_id = view.map_id and target.q = place.q and target.r = place.r;
  end if;
  if view.aq is null or view.tq is null then
    raise exception 'no line of sight from % to %: one of them is not on the map',
      _sighting_of_units."from", _sighting_of_units."to"
      using errcode = 'no_data_found';
  end if;
  view.away := lattice.distance(view.aq, view.ar, view.tq, view.tr);
  view.high := greatest(view.alevel, view.tlevel);
  view.low := least(view.alevel, view.tlevel);
  view.lower_q := case when view.tlevel < view.alevel then view.tq else view.aq end;
  view.lower_r := case when view.tlevel < view.alevel then view.tr else view.ar end;
  return view;
end
$$;

comment on function css._sighting_of_units(bigint, text, text, css.sighting) is
'A sighting whose ends are units, or a unit and a hex, by the names asked.';

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

create or replace function css._at_sea(view css.sighting, "to" text)
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

comment on function css._at_sea(css.sighting, text) is
'The rows of css.los for a unit in a naval zone where 7.1.2 spots it whatever lies between (css-64).';

create or replace function css._whole_line(
  view css.sighting, "from" text, "to" text, lit bigint[], barraged bigint[], bombarded bigint[]
)
returns setof rulings.sight_step
language plpgsql stable rows 2
as $$
declare
  reach integer := css._visibility(view.conditions, css._spot(view.tq, view.tr) = any(lit));
  shut_in boolean;
begin
  if view.away = 0 and view.a_in_cave <> view.t_in_cave then
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
      css._hexes(reach) || ' can be seen now',
      null,
      view.away,
      null
    )::rulings.sight_step;
  end if;
  if view.away > 1 and css._spot(view.aq, view.ar) = any(barraged) then
    -- css-11: out of a barrage
    shut_in := view.readings ->> 'css-11' = 'a'
      or (view.readings ->> 'css-11' = 'c' and coalesce(css._spot(view.aq, view.ar) = any(bombarded), false));
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

comment on function css._whole_line(css.sighting, text, text, bigint[], bigint[], bigint[]) is
'What a line of sight is subject to as a whole: how far is seen now, and a barrage on the viewer.';

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
  view css.sighting;
  above integer;
  barraged bigint[];
  bombarded bigint[];
  burning bigint[];
  burnt bigint[];
  lit bigint[];
  told rulings.sight_step;
  cell record;
  spot text;
  beside_start boolean;
  feature text;
  met1 integer;
  met2 integer;
  stops boolean;
  untold boolean;
  saying integer;
  seen integer := 0;
  possible integer := 0;
  maybe text;
  stopped boolean := false;
  unknown boolean := false;
  target_name text := positions.spoken(_los."to");
  start_label text := case when _los."from" not like 'unit:%' then positions.spoken(_los."from") end;
  target_label text := case when _los."to" not like 'unit:%' then target_name end;
begin
  select
    state.map_id,
    state.conditions,
    state.readings,
    css._visibility(state.conditions, false),
    exists (select from public.marker where marker.position_id = _los.position_id),
    exists (
      select from public.unit
      where unit.position_id = _los.position_id and unit.code in (_los."from", _los."to")
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
    state.readings ->> 'css-43' = 'a'
  into view
  from positions.state(_los.position_id, _los.conditions, _los.policy) as state
  left join public.css_ground as viewer on viewer.map_id = state.map_id and viewer.label = start_label
  left join public.css_ground as target on target.map_id = state.map_id and target.label = target_label;
  -- units are asked for less often than hexes
  if view.names_units or view.away is null then
    view := css._sighting_of_units(_los.position_id, _los."from", _los."to", view);
    if view.zone is not null and view.readings ->> 'css-64' = 'b' then
      return query
      select * from css._at_sea(view, target_name);
      return;
    end if;
  end if;

  -- what it is subject to as a whole
  if view.marked or view.away < 2 or view.away > view.reach or view.reach < 8 then
    if view.marked then
      select * into barraged, bombarded, burning, burnt, lit from css._marked(_los.position_id);
    end if;
    for told in
      select * from css._whole_line(view, positions.spoken(_los."from"), target_name, lit, barraged, bombarded)
    loop
      stopped := stopped or told.effect = 'blocks';
      return next told;
    end loop;
  end if;
  if (view.awalls | view.twalls) & css._on_any_side('steep_slope') <> 0 then
    above := css._above(view);
  end if;

  -- what it meets on its way
  for cell in
    select
      trace.kind,
      trace.crossed,
      trace.of_start,
      trace.of_target,
      trace.direction,
      view.aq + trace.q1 as q1,
      view.ar + trace.r1 as r1,
      one.label as label1,
      one.level as level1,
      one.terrain as terrain1,
      one.sight as sight1,
      -- as long as nothing is marked, read otherwise or seen from above
      css._met(
        one.level, view.high, view.low, lattice.distance(one.q, one.r, view.lower_q, view.lower_r) = 1,
        one.sight, null, false, view.literal
      ) as met1,
      two.label as label2,
      two.level as level2,
      two.terrain as terrain2,
      two.sight as sight2,
      -- a side of the rim is known from within
      coalesce(
        css._walls(one.walls, trace.direction), css._walls(two.walls, lattice.opposite(trace.direction))
      ) as walls
    from lattice.trace
    left join public.css_ground as one
      on one.map_id = view.map_id and one.q = view.aq + trace.q1 and one.r = view.ar + trace.r1
    -- a key that is null is looked up nowhere
    left join public.css_ground as two
      on two.map_id = view.map_id
        and two.q = case
          when trace.kind <> 'hex' or css._walls(one.walls, trace.direction) is distinct from 0
            then view.aq + trace.q1 + lattice.step_q(trace.direction)
        end
        and two.r = view.ar + trace.r1 + lattice.step_r(trace.direction)
    where trace.dq = view.tq - view.aq
      and trace.dr = view.tr - view.ar
      -- a hex knows the side that leads into it
      and not trace.leads_in
      -- neither a side without a wall says anything, nor low open ground
      and case
        when css._walls(one.walls, trace.direction) <> 0 then true
        when trace.kind = 'hex' then one.level is null or one.level > view.low or one.sight <> 0 or view.marked
        when trace.kind = 'side' then one.walls is null
        when trace.kind = 'end' then one.walls is null or trace.crossed
        else true
      end
    order by trace.n
  loop
    if cell.kind <> 'hex' or cell.walls <> 0 then
      spot := positions.side_label(cell.label1, cell.label2);
      saying := case
        when cell.kind = 'spine' then 19
        when cell.kind = 'touch' then 20
        when cell.kind = 'end' and (cell.crossed or cell.walls <> 0) then 21
      end;
      if saying is not null then
        return next css._tell(saying, spot, null, null, view.away);
      end if;
      if cell.walls <> 0 then
        -- of a hex, the side it is entered by
        beside_start := cell.of_start or (
          cell.kind = 'hex'
          and cell.q1 + lattice.step_q(cell.direction) = view.aq
          and cell.r1 + lattice.step_r(cell.direction) = view.ar
        );
        foreach feature in array css._features(cell.walls) loop
          told := css._tell_side(
            feature,
            css._way(cell.kind, cell.crossed, beside_start or cell.of_target, view.readings ->> 'css-62'),
            (view.a_in_cave and beside_start) or (view.t_in_cave and cell.of_target),
            above is not null, view.high = view.low, view.readings, spot, cell.kind = 'end', view.away
          );
          stopped := stopped or told.effect = 'blocks';
          return next told;
        end loop;
      end if;
    end if;
    if cell.kind = 'hex' then
      met1 := cell.met1;
      if view.marked or above is not null or cell.sight1 & css._reread(view.readings) <> 0 then
        met1 := css._met_at(
          cell.q1, cell.r1, cell.level1, cell.sight1, view, above, barraged, burning, burnt
        );
      end if;
      stops := met1 is null or met1 & 63 <> 0;
      saying := case
        when met1 is null then 14
        when not stops and met1 & 128 <> 0 then case seen when 0 then 15 else 16 end
      end;
      stopped := stopped or stops;
      if saying > 14 then
        seen := seen + 1;
      elsif met1 & 256 <> 0 then
        unknown := true;
      end if;
      foreach saying in array css._say(saying, met1, stops, true, view.high = view.low, view.readings) loop
        return next css._tell(
          saying,
          cell.label1,
          cell.terrain1,
          case
            when saying in (15, 16) then css._point_of(met1, null)
            when saying between 2 and 6 and met1 & 16384 <> 0 then 'css-44'
          end,
          view.away
        );
      end loop;
    elsif cell.kind in ('spine', 'touch') then
      met1 := null;
      met2 := null;
      if cell.kind = 'spine' or view.readings ->> 'css-62' = 'b' then
        met1 := css._met_at(
          cell.q1, cell.r1, cell.level1, cell.sight1, view, above, barraged, burning, burnt
        );
      end if;
      if cell.kind = 'spine' then
        met2 := css._met_at(
          cell.q1 + lattice.step_q(cell.direction), cell.r1 + lattice.step_r(cell.direction), cell.level2,
          cell.sight2, view, above, barraged, burning, burnt
        );
      end if;
      stops := css._stops(cell.kind, met1, met2);
      untold := css._untold(met1, met2);
      saying := case
        when stops then null
        when css._thins(met1, met2) then case seen when 0 then 15 else 16 end
        when css._may_thin(met1, met2) then 17
        when not untold and (coalesce(met1, 0) | coalesce(met2, 0)) & 447 <> 0 then 18
      end;
      if saying is not null then
        if saying in (15, 16) then
          seen := seen + 1;
        elsif saying = 17 then
          possible := possible + 1;
          maybe := spot;
        end if;
        return next css._tell(
          saying,
          spot,
          null,
          coalesce(css._point_of(met1, met2), case when cell.kind = 'touch' then 'css-62' end),
          view.away
        );
      end if;
      foreach saying in array css._say(null, met1, stops, untold, view.high = view.low, view.readings) loop
        return next css._tell(
          saying,
          cell.label1,
          cell.terrain1,
          case
            when saying between 2 and 6 and met1 & 16384 <> 0 then 'css-44'
            when cell.kind = 'touch' then 'css-62'
          end,
          view.away
        );
      end loop;
      foreach saying in array css._say(null, met2, stops, untold, view.high = view.low, view.readings) loop
        return next css._tell(
          saying, cell.label2, cell.terrain2,
          case when saying between 2 and 6 and met2 & 16384 <> 0 then 'css-44' end, view.away
        );
      end loop;
      stopped := stopped or stops;
      unknown := unknown or untold;
    end if;
  end loop;
  if possible > 0 and seen < 2 and seen + possible > 1 then
    unknown := true;
    return next css._tell(13, maybe, 'sugar_cane', null, view.away);
  end if;

  -- what it comes to
  if view.names_units then
    if view.zone is not null then
      return next row(
        '22.3.1',
        null,
        view.zone ->> 'beach',
        css._naval_effect(view.zone ->> 'run'),
        'a naval zone is seen, and its range counted, at the beach hex',
        'css-64',
        view.away,
        null
      )::rulings.sight_step;
      view.away := view.away + css._naval_hexes(view.zone ->> 'run');
    elsif view.away = 0 and view.a_in_cave <> view.t_in_cave then
      view.away := 1;
    end if;
  end if;
  return next row(
    '7.1.1',
    null,
    target_name,
    case when stopped or seen > 1 then 'blocked' when unknown then 'unknown' else 'visible' end,
    case
      when stopped or seen > 1 then 'the line of sight is blocked'
      when unknown then 'the rulebook does not print what would decide it'
      else 'nothing stops the line of sight'
    end,
    null,
    view.away,
    null
  )::rulings.sight_step;
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
