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

create or replace function css._around(spots bigint[], q integer, r integer)
returns bit
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(
    (
      select bit_or(lattice.hex_set(near.dq, near.dr))
      from unnest(spots) as spot (n)
      cross join lateral (
        select
          ((spot.n - (spot.n << 32 >> 32)) >> 32)::integer - _around.q as dq,
          (spot.n << 32 >> 32)::integer - _around.r as dr
      ) as near
      where lattice.distance(0, 0, near.dq, near.dr) <= 8
    ),
    b'0'::bit(289)
  );
end
$$;

comment on function css._around(bigint[], integer, integer) is
'Of a list of hexes, each as css._spot, the set of those around a viewer.';

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
      case when one.level > two.level then one.q else two.q end - _looking_down.q as dq,
      case when one.level > two.level then one.r else two.r end - _looking_down.r as dr,
      lattice.side_set(slope.x - 2 * _looking_down.q, slope.y - 2 * _looking_down.r) as side
    from unnest(_looking_down.xs, _looking_down.ys) as slope (x, y)
    cross join lateral lattice.side_hexes(slope.x, slope.y) as beside
    inner join public.css_ground as one
      on one.map_id = _looking_down.map_id and one.q = beside.q1 and one.r = beside.r1
    inner join public.css_ground as two
      on two.map_id = _looking_down.map_id and two.q = beside.q2 and two.r = beside.r2
    where one.level <> two.level
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

create or replace function css._veils(
  map_id bigint,
  q integer,
  r integer,
  level integer,
  readings jsonb,
  barraged bit,
  burning bit,
  burnt bit,
  here bit,
  there bit,
  hidden bit
)
returns table (targets bit, above integer, thins bit, untold bit, stops bit, blind bit, off bit, shut bit)
language sql stable rows 4
as $$
  with spot as materialized (
    select
      spot.level,
      spot.sight,
      bit_or(spot.one) as hexes
    from (
      select
        hex.level::integer as level,
        hex.sight,
        lattice.hex_set(hex.q - _veils.q, hex.r - _veils.r) as one
      from generate_series(-8, 8) as strip (dq)
      inner join public.css_ground as hex
        on hex.map_id = _veils.map_id
          and hex.q = _veils.q + strip.dq
          and hex.r between _veils.r + greatest(-8, -8 - strip.dq) and _veils.r + least(8, 8 - strip.dq)
      offset 0
    ) as spot
    group by spot.level, spot.sight
  ),
  -- what is marked, in all combinations
  marked as (
    select
      state.barrage,
      state.fire,
      state.ashes,
      case when state.barrage then _veils.barraged else ~_veils.barraged end
      & case when state.fire then _veils.burning else ~_veils.burning end
      & case when state.ashes then _veils.burnt else ~_veils.burnt end as hexes
    from (
      values
      (false, false, false), (true, false, false), (false, true, false), (false, false, true),
      (true, true, false), (true, false, true), (false, true, true), (true, true, true)
    ) as state (barrage, fire, ashes)
    offset 0
  ),
  ground as (
    select
      spot.level,
      spot.hexes & marked.hexes as hexes,
      marked.barrage,
      css._sight_now(spot.sight, marked.fire, marked.ashes, _veils.readings) as sight
    from marked
    cross join spot
    where marked.hexes <> b'0'::bit(289)
      and spot.hexes & marked.hexes <> b'0'::bit(289)
    offset 0
  ),
  -- targets of one level, whose lines look down a steep slope alike: from here, from there, or not
  target as (
    select
      kind.level,
      kind.hexes & case when looks.here then _veils.here else ~_veils.here end
      & case when looks.there then _veils.there else ~_veils.there end
      & ~_veils.hidden as hexes,
      greatest(case when looks.here then _veils.level end, case when looks.there then kind.level end) as above
    from (select spot.level, bit_or(spot.hexes) as hexes from spot group by spot.level) as kind
    cross join (values (false, false), (false, true), (true, false), (true, true)) as looks (here, there)
    offset 0
  ),
  -- what the ground is to their lines; css._met as if it lay beside the lower end, which 8 alone turns on
  met as (
    select
      judged.targets,
      judged.level,
      judged.above,
      bit_or(judged.hexes) as every,
      coalesce(bit_or(judged.hexes) filter (where judged.met & 55 <> 0), b'0'::bit(289)) as stops,
      coalesce(bit_or(judged.hexes) filter (where judged.met & 63 <> 0), b'0'::bit(289)) as stops_beside,
      coalesce(bit_or(judged.hexes) filter (where judged.met & 128 <> 0), b'0'::bit(289)) as thins,
      coalesce(bit_or(judged.hexes) filter (where judged.met & 256 <> 0), b'0'::bit(289)) as untold
    from (
      select
        now.targets,
        now.target_level as level,
        now.above,
        now.hexes,
        css._met(now.level, now.high, now.low, true, now.sight, now.cover, now.barrage, now.literal) as met
      from (
        select
          spot.*,
          css._cover(spot.level, spot.sight, spot.above, _veils.readings) as cover,
          _veils.readings ->> 'css-43' = 'a' as literal
        from (
          select
            target.hexes as targets,
            target.level as target_level,
            target.above,
            greatest(target.level, _veils.level) as high,
            least(target.level, _veils.level) as low,
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
    ) as judged
    group by judged.targets, judged.level, judged.above
  )
  select
    lie.*,
    lie.stops | lie.untold | lie.off as shut
  from (
    select
      met.targets,
      met.above,
      met.thins,
      met.untold,
      -- the lower end is the viewer, or the target
      case
        when met.level > _veils.level then met.stops | (met.stops_beside & lattice.ring_set()) else met.stops
      end as stops,
      case when met.level < _veils.level then met.stops_beside else b'0'::bit(289) end as blind,
      ~met.every as off
    from met
    offset 0
  ) as lie
$$;

comment on function css._veils(
  bigint, integer, integer, integer, jsonb, bit, bit, bit, bit, bit, bit
) is
'For each kind of target around a viewer, the hexes that do something to a line: shut is not seen through, nor two that thin it (7.1.1 c), nor blind beside the target (7.1.2 b).';

create or replace function css._weight(kind text, met1 integer, met2 integer)
returns integer
language sql immutable parallel safe
return case
  when css._stops(kind, met1, met2) or css._untold(met1, met2) then 2
  when css._thins(met1, met2) or css._may_thin(met1, met2) then 1
  else 0
end;

comment on function css._weight(text, integer, integer) is
'How much a hex on the way hides: 2 is not seen through, nor are two of weight 1 (7.1.1 c).';

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
  no_hex constant bit(289) := b'0'::bit(289);
  no_side constant bit(1089) := b'0'::bit(1089);
  view record;
  mark record;
  walls record;
  every_wall bit(1089);
  down record;
  barraged bit(289) := no_hex;
  burning bit(289) := no_hex;
  burnt bit(289) := no_hex;
  lit bit(289) := no_hex;
  shut bit(289) := no_hex;
  shut_in boolean := false;
  corners boolean;
  over_cliffs boolean;
  -- how far is seen, and how far a light is seen
  reach integer;
  lit_reach integer;
begin
  select * into view from css._viewer(fan.position_id, fan."from", fan.conditions, fan.policy);
  if view.q is null then
    raise exception 'no hex or unit % on the map of this position', fan."from" using errcode = 'no_data_found';
  end if;
  corners := view.readings ->> 'css-62' = 'b';
  over_cliffs := view.readings ->> 'css-44' <> 'b';
  reach := least(fan.radius, css._visibility(view.now, false));
  lit_reach := least(fan.radius, css._visibility(view.now, true));
  if view.marked then
    select * into mark from css._marked(fan.position_id);
    barraged := css._around(mark.barraged, view.q, view.r);
    burning := css._around(mark.burning, view.q, view.r);
    burnt := css._around(mark.burnt, view.q, view.r);
    lit := css._around(mark.lit, view.q, view.r);
    -- css-11: out of a barrage
    shut_in := get_bit(barraged, lattice.hex_bit(0, 0)) = 1
      and (
        view.readings ->> 'css-11' = 'a'
        or (
          view.readings ->> 'css-11' = 'c'
          and coalesce(css._spot(view.q, view.r) = any(mark.bombarded), false)
        )
      );
  end if;

  -- the walls around, and who looks down over a steep slope
  select
    coalesce(bit_or(side.one) filter (where side.kind <> 'cliff'), no_side) as slopes,
    coalesce(bit_or(side.one) filter (where side.kind = 'cliff'), no_side) as cliffs,
    array_agg(side.x) filter (where side.kind = 'steep_slope') as xs,
    array_agg(side.y) filter (where side.kind = 'steep_slope') as ys
  into walls
  from (
    select
      hexside.kind,
      hexside.x,
      hexside.y,
      lattice.side_set(hexside.x - 2 * view.q, hexside.y - 2 * view.r) as one
    from public.hexside
    where hexside.map_id = view.map_id
      and hexside.x between 2 * view.q - 16 and 2 * view.q + 16
      and hexside.y between 2 * view.r - 16 and 2 * view.r + 16
      and css._wall(hexside.kind) <> 0
    offset 0
  ) as side;
  every_wall := walls.slopes | walls.cliffs;
  if walls.xs is null then
    select no_hex as here, no_hex as there into down;
  else
    select * into down from css._looking_down(view.map_id, view.q, view.r, walls.xs, walls.ys);
  end if;

  if view.in_cave then
    -- 6.3: nobody is seen over a side of the cave's hex with a wall, but for a cliff
    select coalesce(bit_or(lattice.hex_set(ray.dq, ray.dr)), no_hex) into shut
    from lattice.ray
    where ray.leaving & walls.slopes <> no_side
      or (corners and ray.grazed_leaving & walls.slopes <> no_side);
  end if;

  return query
  with veil as materialized (
    select
      found.*,
      case when found.above is not null and over_cliffs then walls.slopes else every_wall end as across
    from css._veils(
      view.map_id, view.q, view.r, view.level, view.readings, barraged, burning, burnt, down.here, down.there, shut
    ) as found
  ),
  line as materialized (
    select
      ray.dq,
      ray.dr,
      ray.away::integer as away
    from lattice.ray
    cross join lateral (
      select *
      from veil
      where get_bit(veil.targets, ray.place) = 1
      offset 0
    ) as veil
    where (
      ray.away <= reach
      or (ray.away <= lit_reach and get_bit(lit, ray.place) = 1)
    )
      and (ray.away = 1 or not shut_in)
      and ray.hexes & veil.shut = no_hex
      and ray.hexes & ray.beside_target & veil.blind = no_hex
      and ray.across & veil.across = no_side
      and (ray.along is null or ray.along & every_wall = no_side)
      -- css-62: what is met in a corner point counts as well, but for what is off the map
      and (
        not corners
        or (
          (ray.grazed is null or ray.grazed & veil.across = no_side)
          and (
            ray.touched is null
            or ray.touched & (veil.stops | veil.untold | (ray.beside_target & veil.blind)) = no_hex
          )
        )
      )
      -- 7.1.1 c; of a spine both hexes count (7.1.1 b), and the last spine is beside the target
      and bit_count(
        case when corners then ray.hexes | coalesce(ray.touched, no_hex) else ray.hexes end & veil.thins
      ) + case
        when ray.along is null then 0
        else (
          select sum(css._weight('spine', spine.met1, spine.met2))
          from (
            select
              case
                when get_bit(veil.off, side.one) = 0
                  then get_bit(side.stops, side.one)
                    + 128 * get_bit(veil.thins, side.one)
                    + 256 * get_bit(veil.untold, side.one)
              end as met1,
              case
                when get_bit(veil.off, side.two) = 0
                  then get_bit(side.stops, side.two)
                    + 128 * get_bit(veil.thins, side.two)
                    + 256 * get_bit(veil.untold, side.two)
              end as met2
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

create or replace function css.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.step
language sql stable rows 50
as $$
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
    cross join lateral css.los(
      fan_reasons.position_id, fan_reasons."from", 'hex:' || hex.label, fan_reasons.conditions, fan_reasons.policy
    ) as los
    where (wanted.dq <> 0 or wanted.dr <> 0)
      and lattice.distance(0, 0, wanted.dq, wanted.dr) <= css._visibility(
        view.now, css._spot(wanted.hq, wanted.hr) = any(mark.lit)
      )
      and rulings._bears_on_fan(los.effect, los.point)
  ) as fan
  cross join lateral rulings._fan_reasons(fan.lines) as reason
$$;

comment on function css.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer: every rule with its place and how many hexes it hides.';
