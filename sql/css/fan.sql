-- needs: css/los.sql, lattice/ray.sql, rulings/fan_reasons.sql
-- All that a hex sees in css: the judgement of css.los, for every hex near enough at once.
--
-- What the hexes around a viewer do to its lines turns on the level of the target alone, and
-- on whether an end of the line looks down a steep slope. So they are judged once for each
-- kind of target, and kept as sets: a veil. A line is a set too (lattice.ray), and most
-- targets are seen if the two have nothing in common.

create or replace function css._viewer(position_id bigint, "from" text, conditions jsonb, policy jsonb)
returns table (
  map_id bigint, now jsonb, readings jsonb, marked boolean, q integer, r integer, level integer, in_cave boolean
)
language sql stable rows 1
as $$
  select
    state.map_id,
    state.conditions,
    state.readings,
    exists (select from public.marker where marker.position_id = _viewer.position_id),
    viewer.q,
    viewer.r,
    ground.level::integer,
    coalesce((viewer.attributes ->> 'in_cave')::boolean, false)
  from positions.state(_viewer.position_id, _viewer.conditions, _viewer.policy) as state
  cross join positions.place(_viewer.position_id, _viewer."from") as viewer
  inner join public.css_ground as ground
    on ground.map_id = state.map_id and ground.q = viewer.q and ground.r = viewer.r
$$;

comment on function css._viewer(bigint, text, jsonb, jsonb) is
'Who looks: where it is, and what holds there now; no row where the name is none on the map.';

create or replace function css._hex_of(spot bigint)
returns table (q integer, r integer)
language sql immutable parallel safe rows 1
as $$
  select ((spot - (spot << 32 >> 32)) >> 32)::integer, (spot << 32 >> 32)::integer
$$;

comment on function css._hex_of(bigint) is
'The hex of a css._spot.';

create or replace function css._around(spots bigint[], q integer, r integer)
returns bit
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(
    (
      select bit_or(lattice.hex_set(near.dq, near.dr))
      from unnest(spots) as spot (n)
      cross join lateral css._hex_of(spot.n) as hex
      cross join lateral (select hex.q - _around.q as dq, hex.r - _around.r as dr) as near
      where lattice.distance(0, 0, near.dq, near.dr) <= 8
    ),
    b'0'::bit(289)
  );
end
$$;

comment on function css._around(bigint[], integer, integer) is
'Of a list of hexes, each as css._spot, the set of those around a viewer.';

create or replace function css._upper_hexes(map_id bigint, xs integer[], ys integer[])
returns table (x integer, y integer, q integer, r integer)
language sql stable parallel safe rows 10
as $$
  select
    slope.x,
    slope.y,
    case when one.level > two.level then one.q else two.q end,
    case when one.level > two.level then one.r else two.r end
  from unnest(_upper_hexes.xs, _upper_hexes.ys) as slope (x, y)
  cross join lateral lattice.side_hexes(slope.x, slope.y) as beside
  inner join public.css_ground as one
    on one.map_id = _upper_hexes.map_id and one.q = beside.q1 and one.r = beside.r1
  inner join public.css_ground as two
    on two.map_id = _upper_hexes.map_id and two.q = beside.q2 and two.r = beside.r2
  where one.level <> two.level
$$;

comment on function css._upper_hexes(bigint, integer[], integer[]) is
'Of each of some hexsides the higher hex, which looks down over a steep slope there (6.2.2); no row where the two are level.';

create or replace function css._looking_down(
  map_id bigint, q integer, r integer, xs integer[], ys integer[], out here bit, out there bit
)
language plpgsql stable parallel safe
as $$
declare
  own bit(1089);
begin
  select
    bit_or(steep.side) filter (where steep.dq = 0 and steep.dr = 0),
    coalesce(bit_or(lattice.hex_set(ray.dq, ray.dr)), b'0'::bit(289))
  into own, there
  from (
    -- its upper hex, and the side
    select
      upper.q - _looking_down.q as dq,
      upper.r - _looking_down.r as dr,
      lattice.side_set(upper.x - 2 * _looking_down.q, upper.y - 2 * _looking_down.r) as side
    from css._upper_hexes(_looking_down.map_id, _looking_down.xs, _looking_down.ys) as upper
    offset 0
  ) as steep
  left join lattice.ray
    on ray.dq = steep.dq and ray.dr = steep.dr and ray.arriving & steep.side <> b'0'::bit(1089);
  here := coalesce(
    case
      when own is not null
        then (
          select bit_or(lattice.hex_set(ray.dq, ray.dr)) from lattice.ray where ray.leaving & own <> b'0'::bit(1089)
        )
    end,
    b'0'::bit(289)
  );
end
$$;

comment on function css._looking_down(bigint, integer, integer, integer[], integer[]) is
'Of the steep slopes around a viewer (6.2.2): the targets it looks down to over one, and those that look down to it.';

create or replace function css._walls_around(map_id bigint, q integer, r integer)
returns table (slopes bit, cliffs bit, xs integer[], ys integer[])
language sql stable rows 1
as $$
  select
    coalesce(bit_or(side.one) filter (where side.kind <> 'cliff'), b'0'::bit(1089)),
    coalesce(bit_or(side.one) filter (where side.kind = 'cliff'), b'0'::bit(1089)),
    array_agg(side.x) filter (where side.kind = 'steep_slope'),
    array_agg(side.y) filter (where side.kind = 'steep_slope')
  from (
    select
      hexside.kind,
      hexside.x,
      hexside.y,
      lattice.side_set(hexside.x - 2 * _walls_around.q, hexside.y - 2 * _walls_around.r) as one
    from public.hexside
    where hexside.map_id = _walls_around.map_id
      and hexside.x between 2 * _walls_around.q - 16 and 2 * _walls_around.q + 16
      and hexside.y between 2 * _walls_around.r - 16 and 2 * _walls_around.r + 16
      and css._wall(hexside.kind) <> 0
    offset 0
  ) as side
$$;

comment on function css._walls_around(bigint, integer, integer) is
'The walls around a viewer as sets, cliffs apart from the others, and where the steep slopes are.';

drop type if exists css.outlook cascade;
create type css.outlook as (
  map_id bigint,
  readings jsonb,
  q integer,
  r integer,
  level integer,
  reach integer,
  lit_reach integer,
  shut_in boolean,
  corners boolean,
  barraged bit (289),
  burning bit (289),
  burnt bit (289),
  lit bit (289),
  slopes bit (1089),
  every_wall bit (1089),
  looks_down bit (289),
  looked_down_on bit (289),
  hidden bit (289)
);

comment on type css.outlook is
'Who looks around itself, and what lies around it, as sets of hexes and of hexsides.';
comment on column css.outlook.lit_reach is 'How far a lit hex is seen (8.7.3)';
comment on column css.outlook.shut_in is 'Whether adjacent hexes alone are seen, out of a barrage (css-11)';
comment on column css.outlook.corners is 'Whether what is met in a corner point counts (css-62)';
comment on column css.outlook.slopes is 'Walls that nobody looks over: all but cliffs';
comment on column css.outlook.looks_down is 'Targets that it looks down to over a steep slope of its own hex (6.2.2)';
comment on column css.outlook.looked_down_on is 'Targets that look down to it over one of theirs';
comment on column css.outlook.hidden is 'Targets beyond a wall of the cave that it is in (6.3)';

create or replace function css._outlook(
  position_id bigint, "from" text, radius integer, conditions jsonb, policy jsonb
)
returns css.outlook
language plpgsql stable
as $$
declare
  no_hex constant bit(289) := b'0'::bit(289);
  no_side constant bit(1089) := b'0'::bit(1089);
  viewer record;
  mark css.marked_hexes;
  walls record;
  view css.outlook;
begin
  select * into viewer from css._viewer(_outlook.position_id, _outlook."from", _outlook.conditions, _outlook.policy);
  if viewer.q is null then
    raise exception 'no hex or unit % on the map of this position', _outlook."from" using errcode = 'no_data_found';
  end if;
  view.map_id := viewer.map_id;
  view.readings := viewer.readings;
  view.q := viewer.q;
  view.r := viewer.r;
  view.level := viewer.level;
  view.reach := least(_outlook.radius, css._visibility(viewer.now, false));
  view.lit_reach := least(_outlook.radius, css._visibility(viewer.now, true));
  view.corners := viewer.readings ->> 'css-62' = 'b';
  view.barraged := no_hex;
  view.burning := no_hex;
  view.burnt := no_hex;
  view.lit := no_hex;
  view.shut_in := false;
  if viewer.marked then
    select * into mark from css._marked(_outlook.position_id);
    view.barraged := css._around(mark.barraged, viewer.q, viewer.r);
    view.burning := css._around(mark.burning, viewer.q, viewer.r);
    view.burnt := css._around(mark.burnt, viewer.q, viewer.r);
    view.lit := css._around(mark.lit, viewer.q, viewer.r);
    view.shut_in := get_bit(view.barraged, lattice.hex_bit(0, 0)) = 1
      and css._shut_in(viewer.readings, css._spot(viewer.q, viewer.r) = any(mark.bombarded));
  end if;
  select * into walls from css._walls_around(viewer.map_id, viewer.q, viewer.r);
  view.slopes := walls.slopes;
  view.every_wall := walls.slopes | walls.cliffs;
  view.looks_down := no_hex;
  view.looked_down_on := no_hex;
  if walls.xs is not null then
    select down.here, down.there
    into view.looks_down, view.looked_down_on
    from css._looking_down(viewer.map_id, viewer.q, viewer.r, walls.xs, walls.ys) as down;
  end if;
  view.hidden := no_hex;
  if viewer.in_cave then
    -- 6.3: nobody is seen over a side of the cave's hex with a wall, but for a cliff
    select coalesce(bit_or(lattice.hex_set(ray.dq, ray.dr)), no_hex) into view.hidden
    from lattice.ray
    where ray.leaving & walls.slopes <> no_side
      or (view.corners and ray.grazed_leaving & walls.slopes <> no_side);
  end if;
  return view;
end
$$;

comment on function css._outlook(bigint, text, integer, jsonb, jsonb) is
'Who looks, by the name asked, and what lies around it; an error where the name is none on the map.';

create or replace function css._ground_kinds(view css.outlook)
returns table (level integer, sight integer, hexes bit)
language sql stable rows 20
as $$
  select
    spot.level,
    spot.sight,
    bit_or(spot.one)
  from (
    select
      hex.level::integer as level,
      hex.sight,
      lattice.hex_set(hex.q - view.q, hex.r - view.r) as one
    from generate_series(-8, 8) as strip (dq)
    inner join public.css_ground as hex
      on hex.map_id = view.map_id
        and hex.q = view.q + strip.dq
        and hex.r between view.r + greatest(-8, -8 - strip.dq) and view.r + least(8, 8 - strip.dq)
    offset 0
  ) as spot
  group by spot.level, spot.sight
$$;

comment on function css._ground_kinds(css.outlook) is
'The ground around a viewer, hexes alike taken together.';

create or replace function css._marked_sets(view css.outlook)
returns table (barrage boolean, fire boolean, ashes boolean, hexes bit)
language sql stable rows 8
as $$
  select
    state.barrage,
    state.fire,
    state.ashes,
    case when state.barrage then view.barraged else ~view.barraged end
    & case when state.fire then view.burning else ~view.burning end
    & case when state.ashes then view.burnt else ~view.burnt end
  from (
    values
    (false, false, false), (true, false, false), (false, true, false), (false, false, true),
    (true, true, false), (true, false, true), (false, true, true), (true, true, true)
  ) as state (barrage, fire, ashes)
  offset 0
$$;

comment on function css._marked_sets(css.outlook) is
'The hexes around a viewer by what is marked there, in all combinations.';

create or replace function css._stops_there(obstacle integer, beside boolean)
returns boolean
language sql immutable parallel safe
return obstacle & (css._bit('stops') - case when beside then 0 else css._bit('blind_spot') end) <> 0;

comment on function css._stops_there(integer, boolean) is
'Whether a hex, judged as if it lay beside the lower end, stops a line where it does, or does not: a blind spot is one beside it (7.1.2 b).';

create or replace function css._veils(view css.outlook)
returns table (targets bit, across bit, thins bit, untold bit, stops bit, blind bit, off bit, shut bit)
language sql stable rows 4
as $$
  with spot as materialized (
    select * from css._ground_kinds(view)
  ),
  ground as (
    select
      spot.level,
      spot.hexes & marked.hexes as hexes,
      marked.barrage,
      css._sight_now(spot.sight, marked.fire, marked.ashes, view.readings) as sight
    from css._marked_sets(view) as marked
    cross join spot
    where marked.hexes <> b'0'::bit(289)
      and spot.hexes & marked.hexes <> b'0'::bit(289)
    offset 0
  ),
  -- targets of one level, whose lines look down a steep slope alike: from here, from there, or not
  target as (
    select
      kind.level,
      kind.hexes & case when looks.here then view.looks_down else ~view.looks_down end
      & case when looks.there then view.looked_down_on else ~view.looked_down_on end
      & ~view.hidden as hexes,
      greatest(case when looks.here then view.level end, case when looks.there then kind.level end) as above
    from (select spot.level, bit_or(spot.hexes) as hexes from spot group by spot.level) as kind
    cross join (values (false, false), (false, true), (true, false), (true, true)) as looks (here, there)
    offset 0
  ),
  -- what the ground is to their lines; as if it lay beside the lower end, which a blind spot alone turns on
  judged as (
    select
      now.targets,
      now.target_level as level,
      now.above,
      now.hexes,
      css._obstacle(now.level, now.high, now.low, true, now.sight, now.cover, now.barrage, now.literal) as obstacle
    from (
      select
        spot.*,
        css._cover(spot.level, spot.sight, spot.above, view.readings) as cover,
        view.readings ->> 'css-43' = 'a' as literal
      from (
        select
          target.hexes as targets,
          target.level as target_level,
          target.above,
          greatest(target.level, view.level) as high,
          least(target.level, view.level) as low,
          ground.level,
          ground.hexes,
          ground.barrage,
          ground.sight
        from target
        cross join ground
        where target.hexes <> b'0'::bit(289)
        offset 0
      ) as spot
      offset 0
    ) as now
    offset 0
  )
  select
    lie.targets,
    -- a cliff may be seen over from above (css-44)
    case when lie.above is not null and view.readings ->> 'css-44' <> 'b' then view.slopes else view.every_wall end,
    lie.thins,
    lie.untold,
    lie.stops,
    lie.blind,
    lie.off,
    lie.stops | lie.untold | lie.off
  from (
    select
      kind.targets,
      kind.above,
      kind.thins,
      kind.untold,
      -- the lower end is the viewer, or the target
      case
        when kind.level > view.level then kind.stops | (kind.stops_beside & lattice.ring_set()) else kind.stops
      end as stops,
      case when kind.level < view.level then kind.stops_beside else b'0'::bit(289) end as blind,
      ~kind.every as off
    from (
      select
        judged.targets,
        judged.level,
        judged.above,
        bit_or(judged.hexes) as every,
        coalesce(
          bit_or(judged.hexes) filter (where css._stops_there(judged.obstacle, false)),
          b'0'::bit(289)
        ) as stops,
        coalesce(bit_or(judged.hexes) filter (where css._stops_there(judged.obstacle, true)), b'0'::bit(289)) as stops_beside,
        coalesce(bit_or(judged.hexes) filter (where css._has(judged.obstacle, 'brush')), b'0'::bit(289)) as thins,
        coalesce(bit_or(judged.hexes) filter (where css._has(judged.obstacle, 'unprinted')), b'0'::bit(289)) as untold
      from judged
      group by judged.targets, judged.level, judged.above
    ) as kind
    offset 0
  ) as lie
$$;

comment on function css._veils(css.outlook) is
'For each kind of target around a viewer, the hexes that do something to a line: shut is not seen through, nor two that thin it (7.1.1 c), nor blind beside the target (7.1.2 b); and the walls that it must not cross.';

create or replace function css._weight(one integer, two integer)
returns integer
language sql immutable parallel safe
return case
  when css._stops('spine', one, two) or css._unprinted(one, two) then 2
  when css._counts_as_brush(one, two) or css._brush_at_worst(one, two) then 1
  else 0
end;

comment on function css._weight(integer, integer) is
'How much a spine on the way hides: 2 is not seen through, nor are two of weight 1 (7.1.1 c).';

create or replace function css._veiled(place integer, stops bit, thins bit, untold bit, off bit)
returns integer
language sql immutable parallel safe
return case
  when get_bit(off, place) = 0
    then css._bit('barrage') * get_bit(stops, place)
      + css._bit('brush') * get_bit(thins, place)
      + css._bit('unprinted') * get_bit(untold, place)
end;

comment on function css._veiled(integer, bit, bit, bit, bit) is
'What a hex of a veil is to a line, as bits of css._bit: whatever stops it stands as a barrage; null is off the map.';

create or replace function css._seen_lines(view css.outlook)
returns table (dq integer, dr integer, away integer)
language sql stable rows 100
as $$
  with veil as materialized (
    select * from css._veils(view)
  )
  select
    ray.dq::integer,
    ray.dr::integer,
    ray.away::integer
  from lattice.ray
  cross join lateral (
    select *
    from veil
    where get_bit(veil.targets, ray.place) = 1
    offset 0
  ) as veil
  where (
    ray.away <= view.reach
    or (ray.away <= view.lit_reach and get_bit(view.lit, ray.place) = 1)
  )
    and (ray.away = 1 or not view.shut_in)
    and ray.hexes & veil.shut = b'0'::bit(289)
    and ray.hexes & ray.beside_target & veil.blind = b'0'::bit(289)
    and ray.across & veil.across = b'0'::bit(1089)
    and (ray.along is null or ray.along & view.every_wall = b'0'::bit(1089))
    -- css-62: what is met in a corner point counts as well, but for what is off the map
    and (
      not view.corners
      or (
        (ray.grazed is null or ray.grazed & veil.across = b'0'::bit(1089))
        and (
          ray.touched is null
          or ray.touched & (veil.stops | veil.untold | (ray.beside_target & veil.blind)) = b'0'::bit(289)
        )
      )
    )
    -- 7.1.1 c; of a spine both hexes count (7.1.1 b), and the last spine is beside the target
    and bit_count(
      case when view.corners then ray.hexes | coalesce(ray.touched, b'0'::bit(289)) else ray.hexes end & veil.thins
    ) + case
      when ray.along is null then 0
      else (
        select sum(css._weight(spine.one, spine.two))
        from (
          select
            css._veiled(side.one, side.stops, veil.thins, veil.untold, veil.off) as one,
            css._veiled(side.two, side.stops, veil.thins, veil.untold, veil.off) as two
          from (
            select
              spine.one,
              spine.two,
              case when spine.n = cardinality(ray.spine1) then veil.stops | veil.blind else veil.stops end as stops
            from unnest(ray.spine1, ray.spine2) with ordinality as spine (one, two, n)
          ) as side
          offset 0
        ) as spine
      )
    end < 2
$$;

comment on function css._seen_lines(css.outlook) is
'The lines along which a viewer sees, each by its displacement.';

create or replace function css.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  view css.outlook := css._outlook(fan.position_id, fan."from", fan.radius, fan.conditions, fan.policy);
begin
  return query
  with line as materialized (
    select * from css._seen_lines(view)
  )
  select
    hex.q,
    hex.r,
    hex.label,
    line.away
  from line
  inner join public.css_ground as hex
    on hex.map_id = view.map_id and hex.q = view.q + line.dq and hex.r = view.r + line.dr;
end
$$;

comment on function css.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit sees, with its range; the verdicts are those of css.los.';

-- The plan takes longer to make than to run for a near fan: it is made once a session.
create or replace function css.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.step
language plpgsql stable rows 50
set plan_cache_mode = force_generic_plan
-- how many hexes are near is not known beforehand: every hex of every map would be read, or looked at
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
  select
    css._visibility_rule(view.now),
    null,
    hex.label,
    'visibility',
    css._hexes(css._visibility(view.now, false)) || ' can be seen now',
    null
  from css._viewer(fan_reasons.position_id, fan_reasons."from", fan_reasons.conditions, fan_reasons.policy) as view
  inner join public.hex on hex.map_id = view.map_id and hex.q = view.q and hex.r = view.r
  where css._visibility(view.now, false) < coalesce(fan_reasons.radius, 99)
  union all
  select reason.*
  from (
    select array_agg(los) as lines
    from css._viewer(
      fan_reasons.position_id, fan_reasons."from", fan_reasons.conditions, fan_reasons.policy
    ) as view
    cross join css._marked(fan_reasons.position_id) as mark
    cross join lateral lattice.disc(view.q, view.r, least(fan_reasons.radius, 8)) as wanted
    inner join public.hex on hex.map_id = view.map_id and hex.q = wanted.hq and hex.r = wanted.hr
    cross join lateral (
      -- a hex is found sooner than a unit, which sees the same unless it is in a cave or under a barrage
      select case
        when view.in_cave or css._spot(view.q, view.r) = any(mark.barraged) then fan_reasons."from"
        else 'hex:' || ground.label
      end as name
      from public.hex as ground
      where ground.map_id = view.map_id and ground.q = view.q and ground.r = view.r
    ) as viewer
    cross join lateral css.los(
      fan_reasons.position_id, viewer.name, 'hex:' || hex.label, fan_reasons.conditions, fan_reasons.policy
    ) as los
    where (wanted.dq <> 0 or wanted.dr <> 0)
      and lattice.distance(0, 0, wanted.dq, wanted.dr) <= css._visibility(
        view.now, css._spot(wanted.hq, wanted.hr) = any(mark.lit)
      )
      and rulings._bears_on_fan(los.effect, los.point)
  ) as fan
  cross join lateral rulings._fan_reasons(fan.lines) as reason;
end
$$;

comment on function css.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer: every rule with its place and how many hexes it hides.';
